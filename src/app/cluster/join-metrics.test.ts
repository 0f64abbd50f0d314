import { expect, it } from 'vitest';
import { readMetrics } from '../../../test/observing/metrics-text.ts';
import { MetricsText } from '../../base/text/metrics-text.ts';
import { joinMetrics } from './join-metrics.ts';

/** Page of a worker. */
const page = (calls: number, key: string): string =>
  new MetricsText()
    .single('up', 'gauge', 'Up.', 1)
    .family('calls_total', 'counter', 'Calls.')
    .sample('calls_total', calls, { key })
    .family('took', 'histogram', 'Times.')
    .histogram('took', {}, [1], [calls, 0], 2)
    .toString();

it('has each family once, and a worker label on each sample', () => {
  const odd = 'a "}" {b="c",\nd\\';
  const own = new MetricsText().single('workers', 'gauge', 'Workers.', 2).toString();
  const pages = new Map([
    [1, page(3, odd)],
    [2, page(4, 'k')],
  ]);
  const families = readMetrics(joinMetrics(pages, own));
  expect([...families.keys()]).toEqual(['up', 'calls_total', 'took', 'workers']);
  expect(families.get('calls_total')?.samples).toEqual([
    { name: 'calls_total', labels: { worker: '1', key: odd }, value: 3 },
    { name: 'calls_total', labels: { worker: '2', key: 'k' }, value: 4 },
  ]);
  expect(families.get('up')?.samples.map(({ labels }) => labels)).toEqual([{ worker: '1' }, { worker: '2' }]);
  const buckets = families.get('took')?.samples.filter(({ name }) => name === 'took_bucket');
  expect(buckets?.map(({ labels }) => labels)).toEqual([
    { worker: '1', le: '1' },
    { worker: '1', le: '+Inf' },
    { worker: '2', le: '1' },
    { worker: '2', le: '+Inf' },
  ]);
  expect(families.get('workers')?.samples).toEqual([{ name: 'workers', labels: {}, value: 2 }]);
});
