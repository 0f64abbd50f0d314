/**
 * A strict parser for the Prometheus text format, version 0.0.4.
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
 */
export type Family = Readonly<{
  kind: string;
  samples: readonly Readonly<{ name: string; labels: Readonly<Record<string, string>>; value: number }>[];
}>;

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/;
const KINDS = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const match = LABEL.exec(rest);
    if (match === null) throw new Error(`no labels: ${text}`);
    const [whole, name, value] = match as unknown as [string, string, string];
    if (name in labels) throw new Error(`a label twice: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function readNumber(text: string): number {
  if (!NUMBER.test(text)) throw new Error(`no number: ${text}`);
  return text.endsWith('Inf') ? Number(`${text}inity`) : Number(text);
}

function readSample(line: string) {
  const match = /^([^{\s]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null || !NAME.test(match[1]!)) throw new Error(`no sample: ${line}`);
  return { name: match[1]!, labels: readLabels(match[2] ?? ''), value: readNumber(match[3]!) };
}

/** Checks that bounds and counts ascend, and that the last bucket is +Inf and contains the total count. */
function checkHistogram(family: string, samples: Family['samples']): void {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const group of groups.values()) {
    const buckets = group.filter(({ name }) => name === `${family}_bucket`);
    const bounds = buckets.map(({ labels }) => readNumber(labels.le ?? ''));
    const counts = buckets.map(({ value }) => value);
    const ascends = (values: readonly number[]) =>
      values.every((value, index) => index === 0 || value >= values[index - 1]!);
    const count = group.find(({ name }) => name === `${family}_count`)?.value;
    const hasSum = group.some(({ name }) => name === `${family}_sum`);
    const isValid =
      ascends(bounds) && ascends(counts) && bounds.at(-1) === Infinity && counts.at(-1) === count;
    if (!isValid || !hasSum) throw new Error(`no histogram: ${family}`);
  }
}

/** Parses a metrics page. @throws Error for invalid text. */
export function readMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, { kind: string; samples: Family['samples'][number][] }>();
  const seen = new Set<string>();
  let helped = '';
  let name = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, word, family, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') helped = family!;
    else if (word === 'TYPE') {
      if (family !== helped || families.has(family!) || !NAME.test(family!) || !KINDS.includes(rest!)) {
        throw new Error(`no family: ${line}`);
      }
      name = family!;
      families.set(name, { kind: rest!, samples: [] });
    } else {
      const sample = readSample(line);
      const open = families.get(name);
      const ends = open?.kind === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!ends.some((end) => sample.name === `${name}${end}`)) throw new Error(`not of ${name}: ${line}`);
      const id = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(id)) throw new Error(`a sample twice: ${id}`);
      seen.add(id);
      open!.samples.push(sample);
    }
  }
  for (const [family, { kind, samples }] of families)
    if (kind === 'histogram') checkHistogram(family, samples);
  return families;
}
