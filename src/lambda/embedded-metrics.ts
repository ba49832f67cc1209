// Metrics in lines of the log, from which CloudWatch makes them without a call ("Specification: Embedded metric
// format").

/** The units that are used, of those of CloudWatch. */
export type MetricUnit = 'Count' | 'Milliseconds';

/** At most as many metrics are in a line, and as many values in a metric. */
const maxOfEach = 100;

/** The metrics with the same dimensions, which are written in one line. */
export class EmbeddedMetrics {
  readonly #write: (line: string) => void;
  readonly #namespace: string;
  readonly #dimensions: Readonly<Record<string, string>>;
  readonly #metrics = new Map<string, { readonly unit: MetricUnit; readonly values: number[] }>();

  constructor(write: (line: string) => void, namespace: string, dimensions: Readonly<Record<string, string>>) {
    this.#write = write;
    this.#namespace = namespace;
    this.#dimensions = dimensions;
  }

  /** Adds a value. A line that is full is written. */
  add(name: string, unit: MetricUnit, value: number): void {
    const metric = this.#metrics.get(name) ?? { unit, values: [] };
    metric.values.push(value);
    this.#metrics.set(name, metric);
    if (metric.values.length === maxOfEach || this.#metrics.size === maxOfEach) this.flush();
  }

  /** Writes what was added since the last line. */
  flush(): void {
    if (this.#metrics.size === 0) return;
    const metrics = [...this.#metrics];
    const directive = {
      Namespace: this.#namespace,
      Dimensions: [Object.keys(this.#dimensions)],
      Metrics: metrics.map(([Name, { unit: Unit }]) => ({ Name, Unit })),
    };
    const values = metrics.map(([name, { values: all }]) => [name, all.length === 1 ? all[0] : all] as const);
    this.#metrics.clear();
    this.#write(
      JSON.stringify({
        _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] },
        ...this.#dimensions,
        ...Object.fromEntries(values),
      }),
    );
  }
}
