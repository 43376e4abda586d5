internal import LiteVaultSchedule
internal import LiteVaultSystem

/// The answers to requests about a running schedule.
enum MonitoringAnswers {
    /// What a schedule answers at this moment: `/health` and `/metrics`.
    static func answer(_ request: HTTPRequest, about runner: ScheduleRunner) -> HTTPResponse {
        switch request.path {
        case "/health":
            let health = runner.health()
            return HTTPResponse(
                health.isHealthy ? 200 : 503, members(health).json + "\n", type: "application/json")
        case "/metrics":
            return HTTPResponse(
                200, Metrics.text(runner.currentSamples()), type: "text/plain; version=0.0.4; charset=utf-8")
        default: return HTTPResponse(404, "There is /health and /metrics.\n")
        }
    }

    private static func members(_ health: ScheduleHealth) -> Members {
        // What is wrong, with the names of job and database: what a person reads first.
        let reasons = health.jobs.flatMap { job in
            job.reasons.map { "\(job.name): \($0)" }
                + job.followers.compactMap { one in one.reason.map { "\(job.name): \(one.state.database): \($0)" } }
        }
        return [
            "schema": 1, "healthy": health.isHealthy, "reasons": reasons, "jobs": health.jobs.map(job),
        ]
    }

    private static func job(_ job: ScheduleHealth.Job) -> Members {
        [
            "job": job.name, "healthy": job.isHealthy, "reasons": job.reasons,
            "followers": job.followers.map(follower),
        ]
    }

    private static func follower(_ follower: ScheduleHealth.Follower) -> Members {
        let lastLook: String? = Format.time(follower.state.looked)
        let lastSegment: String? = Format.time(follower.state.stored)
        return [
            "database": follower.state.database, "state": follower.state.phase.rawValue, "healthy": follower.isHealthy,
            "reason": Nullable(follower.reason),
            "lag_seconds": Nullable(follower.lag.map { ($0 * 1000).rounded() / 1000 }),
            "lag_limit_seconds": follower.lagLimit, "waiting_segments": follower.waiting,
            "last_look": Nullable(lastLook), "last_segment": Nullable(lastSegment),
        ]
    }
}
