import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Collector, startCollector } from '../../../test/observing/otlp-collector.ts';
import { createLogger } from '../../base/log.ts';
import { OtlpExporter, type OtlpOptions } from './otlp-exporter.ts';
import type { RequestEntry } from './request-log.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const step = { name: 'upstream', startMs: 1, endMs: 81, outcome: 'no answer in time' };
const entry: RequestEntry = {
  at: 1_700_000_000_000,
  customerId: 'house',
  keyId: '7hQ2mKpZ',
  product: 'rpc',
  network: 'devnet',
  method: 'getBalance',
  status: 'ok',
  http: 200,
  rpcCode: 0,
  failure: null,
  message: null,
  signature: null,
  micros: 112_500,
  bytesIn: 1,
  bytesOut: 2,
  node: 'b',
  address: '192.0.2.7',
  origin: null,
  steps: [
    { ...step, node: 'a' },
    { ...step, node: 'b', startMs: 81.25, endMs: 112.25, outcome: 'ok' },
  ],
  params: '["secret place"]',
  result: null,
};

let collector: Collector;
const logged: string[] = [];
beforeEach(async () => {
  collector = await startCollector();
  logged.length = 0;
});
afterEach(() => collector.close());

const exporterTo = (url: string, options: Partial<OtlpOptions> = {}) => {
  const log = createLogger('info', (line) => logged.push(line));
  const resource = { 'service.name': 'solway', 'service.instance.id': 'gateway-1' };
  return new OtlpExporter({ url, headers: { 'x-secret': 'hunter2' }, resource, log }, options);
};

describe('OTLP exporter', () => {
  it('exports a request and its attempts as one trace', async () => {
    const exporter = exporterTo(collector.url);
    exporter.add(entry, { traceId: TRACE, parentId: PARENT });
    await exporter.flush();
    expect(collector.faults).toEqual([]);
    expect(collector.headers[0]).toMatchObject({ 'x-secret': 'hunter2' });
    const [own, first, second] = collector.spans;
    expect(own).toMatchObject({
      ...{ traceId: TRACE, parentSpanId: PARENT, name: 'getBalance', kind: 2, status: {} },
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000000112500000',
    });
    expect(first).toMatchObject({
      ...{ traceId: TRACE, parentSpanId: own!.spanId, name: 'upstream a', kind: 3 },
      status: { code: 2, message: 'no answer in time' },
    });
    expect(second).toMatchObject({ startTimeUnixNano: '1700000000081250000', status: {} });
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3);
    expect(collector.bodies.join()).not.toContain('secret place');
  });

  it('exports all spans in batches', async () => {
    const exporter = exporterTo(collector.url, { batchMax: 4 });
    for (let i = 0; i < 5; i++) exporter.add(entry, { traceId: TRACE, parentId: null });
    await exporter.flush();
    expect([collector.spans.length, collector.bodies.length]).toEqual([15, 4]);
    expect([exporter.dropped, exporter.waiting]).toEqual([0, 0]);
  });

  it('drops spans beyond queueMax', async () => {
    const exporter = exporterTo(collector.url, { queueMax: 7 });
    for (let i = 0; i < 5; i++) exporter.add(entry, { traceId: TRACE, parentId: null });
    expect([exporter.waiting, exporter.dropped]).toEqual([6, 9]);
  });

  it('drops spans while the collector fails, logs it once, and recovers', async () => {
    const exporter = exporterTo(collector.url);
    const send = async () => {
      exporter.add(entry, { traceId: TRACE, parentId: null });
      await exporter.flush();
    };
    collector.answer(503);
    await send();
    await send();
    expect(exporter.dropped).toBe(6);
    collector.answer(200);
    await send();
    expect(collector.spans).toHaveLength(3);
    expect(logged).toHaveLength(2);
    expect(logged.join()).not.toMatch(/hunter2|127\.0\.0\.1/);
  });

  it('survives an unreachable collector', async () => {
    await collector.close();
    const exporter = exporterTo(collector.url);
    exporter.add(entry, { traceId: TRACE, parentId: null });
    await exporter.stop();
    expect(exporter.dropped).toBe(3);
    collector = await startCollector();
  });
});
