import { describe, expect, it } from 'vitest';
import { readMetrics } from '../../../test/observing/metrics-text.ts';
import { MetricsText } from './metrics-text.ts';

describe('metrics text', () => {
  it('is valid for a strict parser with any label values', () => {
    const odd = 'a "quoted" \\ line\nbroken';
    const text = new MetricsText()
      .family('calls_total', 'counter', 'Calls,\nand \\ more.')
      .sample('calls_total', 3, { key: odd, kind: '' })
      .sample('calls_total', 0.5, { key: 'b', kind: '' })
      .single('slot', 'gauge', 'A slot.', 1e21)
      .toString();
    const families = readMetrics(text);
    expect(families.get('calls_total')).toEqual({
      kind: 'counter',
      samples: [
        { name: 'calls_total', labels: { key: odd, kind: '' }, value: 3 },
        { name: 'calls_total', labels: { key: 'b', kind: '' }, value: 0.5 },
      ],
    });
    expect(families.get('slot')?.samples[0]?.value).toBe(1e21);
  });

  it('writes cumulative histogram buckets up to +Inf', () => {
    const text = new MetricsText()
      .family('took', 'histogram', 'Times.')
      .histogram('took', { server: 'a' }, [0.1, 1], [2, 0, 5], 9.25)
      .toString();
    expect(readMetrics(text).get('took')?.samples).toEqual([
      { name: 'took_bucket', labels: { server: 'a', le: '0.1' }, value: 2 },
      { name: 'took_bucket', labels: { server: 'a', le: '1' }, value: 2 },
      { name: 'took_bucket', labels: { server: 'a', le: '+Inf' }, value: 7 },
      { name: 'took_sum', labels: { server: 'a' }, value: 9.25 },
      { name: 'took_count', labels: { server: 'a' }, value: 7 },
    ]);
  });
});
