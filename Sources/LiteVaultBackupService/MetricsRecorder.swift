internal import LiteVaultSchedule
internal import LiteVaultSystem
internal import Metrics

/// Records the metrics of a schedule with swift-metrics.
///
/// The samples are states, with counters that may have begun long before this process. Counters of swift-metrics begin at 0 with
/// the process, so they get the differences.
final class MetricsRecorder: Sendable {
    private struct Key: Hashable {
        let name: String
        let labels: [MetricSample.Label]
    }

    private enum Instrument {
        case gauge(Gauge)
        /// With the sample's last value.
        case counter(Counter, last: Double)

        func destroy() {
            switch self {
            case .gauge(let gauge): gauge.destroy()
            case .counter(let counter, _): counter.destroy()
            }
        }
    }

    private let factory: any MetricsFactory
    private let instruments = Locked<[Key: Instrument]>([:])

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Records a state. Metrics that no longer have a value are removed.
    ///
    /// - Parameter isEarlier: whether it is from before this service: its counters do not count again.
    func record(_ samples: [MetricSample], isEarlier: Bool = false) {
        instruments.withLock { instruments in
            var gone = instruments
            for sample in samples {
                let key = Key(name: sample.name, labels: sample.labels)
                gone[key] = nil
                let instrument = instruments[key] ?? instrument(sample, isEarlier)
                instruments[key] = Self.record(sample.value, with: instrument)
            }
            for (key, instrument) in gone {
                instrument.destroy()
                instruments[key] = nil
            }
        }
    }

    private func instrument(_ sample: MetricSample, _ isEarlier: Bool) -> Instrument {
        let dimensions = sample.labels.map { ($0.name, $0.value) }
        return switch sample.kind {
        case .gauge: .gauge(Gauge(label: sample.name, dimensions: dimensions, factory: factory))
        case .counter:
            .counter(
                Counter(label: sample.name, dimensions: dimensions, factory: factory),
                last: isEarlier ? sample.value : 0)
        }
    }

    private static func record(_ value: Double, with instrument: Instrument) -> Instrument {
        switch instrument {
        case .gauge(let gauge):
            gauge.record(value)
            return instrument
        case .counter(let counter, let last):
            // A lower value is that of a follower that has begun again.
            counter.increment(by: Int64(exactly: (value < last ? value : value - last).rounded()) ?? 0)
            return .counter(counter, last: value)
        }
    }
}
