import { describe, expect, it } from 'vitest';
import { type Configuration, loadConfiguration } from '../../config/configuration.ts';
import { dividedFields, toWorkerConfiguration } from './worker-configuration.ts';

const whole = loadConfiguration(
  { config: '/dev/null', upstreams: [{ url: 'http://127.0.0.1:1', network: 'devnet' }] },
  {},
);

const numbersOf = (configuration: Configuration): Map<string, number> =>
  new Map(
    Object.entries(configuration).flatMap(([section, fields]) =>
      Object.entries(fields ?? {}).flatMap(([field, value]) =>
        typeof value === 'number' ? [[`${section}.${field}`, value] as const] : [],
      ),
    ),
  );

describe('the configuration of a worker', () => {
  it('has a share of each divided limit, and all other values unchanged', () => {
    const before = numbersOf(whole);
    const after = numbersOf(toWorkerConfiguration(whole, 4));
    const divided = new Set(
      Object.entries(dividedFields).flatMap(([section, fields]) =>
        fields.map((field) => `${section}.${field}`),
      ),
    );
    const others = { 'store.connectionsMax': 2, 'shared.gatewaysMin': 4 };
    for (const [name, value] of before) {
      const part = value === 0 ? 0 : Math.max(1, Math.floor(value / 4));
      const expected = Object.hasOwn(others, name)
        ? others[name as keyof typeof others]
        : divided.has(name)
          ? part
          : value;
      expect([name, after.get(name)]).toEqual([name, expected]);
    }
    expect([...divided].filter((name) => !before.has(name))).toEqual([]);
  });

  it('divides the rate limits of nodes, with at least one request each', () => {
    const node = {
      name: 'n',
      network: 'devnet',
      url: 'http://n',
      ws: null,
      grpc: null,
      headers: {},
      requestsPerSecond: null,
      requestsBurst: null,
      pipelining: 1,
      priority: 1,
      weight: 1,
      methods: null,
      archive: null,
      indexes: null,
      region: null,
    } as const;
    const upstreams = [{ ...node, requestsPerSecond: 100, requestsBurst: 3 }, node];
    const of = (workers: number) =>
      toWorkerConfiguration({ ...whole, upstreams }, workers).upstreams.map(
        ({ requestsPerSecond, requestsBurst }) => [requestsPerSecond, requestsBurst],
      );
    expect(of(2)).toEqual([
      [50, 1],
      [null, null],
    ]);
    expect(of(64)).toEqual([
      [1, 1],
      [null, null],
    ]);
  });
});
