/** Prometheus text format 0.0.4. Source: https://prometheus.io/docs/instrumenting/exposition_formats/. */

type MetricKind = 'counter' | 'gauge' | 'histogram';

type MetricLabels = Readonly<Record<string, string>>;

const escapeLabel = (text: string): string =>
  text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');

function labelText(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

export class MetricsText {
  readonly #lines: string[] = [];

  family(name: string, kind: MetricKind, help: string): this {
    this.#lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${kind}`);
    return this;
  }

  sample(name: string, value: number, labels: MetricLabels = {}): this {
    this.#lines.push(`${name}${labelText(labels)} ${numberText(value)}`);
    return this;
  }

  single(name: string, kind: 'counter' | 'gauge', help: string, value: number): this {
    return this.family(name, kind, help).sample(name, value);
  }

  /** @param counts - count of each bucket, not cumulative; the last bucket holds values above all bounds. */
  histogram(
    name: string,
    labels: MetricLabels,
    bounds: readonly number[],
    counts: ArrayLike<number>,
    sum: number,
  ): this {
    let total = 0;
    for (let bucket = 0; bucket <= bounds.length; bucket++) {
      total += counts[bucket] ?? 0;
      const le = numberText(bounds[bucket] ?? Number.POSITIVE_INFINITY);
      this.sample(`${name}_bucket`, total, { ...labels, le });
    }
    return this.sample(`${name}_sum`, sum, labels).sample(`${name}_count`, total, labels);
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}
