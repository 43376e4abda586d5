internal import LiteVaultSchedule
internal import LiteVaultSystem

/// The answers to requests about a running schedule.
enum MonitoringAnswers {
    /// What a schedule answers at this moment: `/health` and `/metrics`.
    static func answer(_ request: HTTPRequest, about runner: ScheduleRunner) -> HTTPResponse {
        switch request.path {
        case "/health":
            let health = runner.health()
            guard let line = try? ResultEncoder.line(Health(health)) else { return HTTPResponse(503, "") }
            return HTTPResponse(health.isHealthy ? 200 : 503, line + "\n", type: "application/json")
        case "/metrics":
            return HTTPResponse(
                200, Metrics.text(runner.currentSamples()), type: "text/plain; version=0.0.4; charset=utf-8")
        default: return HTTPResponse(404, "There is /health and /metrics.\n")
        }
    }

    private struct Health: Encodable {
        let schema = 1
        let healthy: Bool
        /// What is wrong, with the names of job and database: what a person reads first.
        let reasons: [String]
        let jobs: [Job]

        init(_ health: ScheduleHealth) {
            healthy = health.isHealthy
            jobs = health.jobs.map(Job.init)
            reasons = health.jobs.flatMap { job in
                job.reasons.map { "\(job.name): \($0)" }
                    + job.followers.compactMap { one in one.reason.map { "\(job.name): \(one.state.database): \($0)" } }
            }
        }
    }

    private struct Job: Encodable {
        let job: String
        let healthy: Bool
        let reasons: [String]
        let followers: [Follower]

        init(_ job: ScheduleHealth.Job) {
            self.job = job.name
            healthy = job.isHealthy
            reasons = job.reasons
            followers = job.followers.map(Follower.init)
        }
    }

    private struct Follower: Encodable {
        let database: String
        let state: String
        let healthy: Bool
        @Nullable var reason: String?
        @Nullable var lagSeconds: Double?
        let lagLimitSeconds: Double
        let waitingSegments: Int
        @Nullable var lastLook: String?
        @Nullable var lastSegment: String?

        init(_ follower: ScheduleHealth.Follower) {
            (database, state) = (follower.state.database, follower.state.phase.rawValue)
            healthy = follower.isHealthy
            reason = follower.reason
            lagSeconds = follower.lag.map { ($0 * 1000).rounded() / 1000 }
            lagLimitSeconds = follower.lagLimit
            waitingSegments = follower.waiting
            lastLook = Format.time(follower.state.looked)
            lastSegment = Format.time(follower.state.stored)
        }
    }
}
