import { beforeEach, expect, it } from 'vitest';
import { type HealthFacts, healthOptions, ProblemTracker } from './problem-tracker.ts';

const DATE = Date.UTC(2026, 10, 28, 12);

let now = 0;
let nodes: ReturnType<HealthFacts['nodes']> = [];
let requests = { total: 0, failed: 0 };
let stream: ReturnType<HealthFacts['stream']> = null;
let losses = { usage: 0, log: 0 };
let disk: ReturnType<HealthFacts['disk']> = null;
let isStoreUp = true;
let isClickHouseUp = true;
let hasRejectedRows = false;
let tracker: ProblemTracker;

const node = (name: string, state: string, reason: string | null = null) =>
  ({ network: 'devnet', name, state, reason }) as const;

beforeEach(() => {
  now = 0;
  nodes = [node('one', 'healthy')];
  requests = { total: 0, failed: 0 };
  stream = null;
  losses = { usage: 0, log: 0 };
  disk = null;
  isStoreUp = true;
  isClickHouseUp = true;
  hasRejectedRows = false;
  const facts: HealthFacts = {
    nodes: () => nodes,
    requests: () => requests,
    stream: () => stream,
    isStoreUp: () => isStoreUp,
    isClickHouseUp: () => isClickHouseUp,
    hasRejectedRows: () => hasRejectedRows,
    losses: () => losses,
    disk: () => disk,
  };
  const clock = { monotonic: () => now, date: () => DATE + now };
  tracker = new ProblemTracker(facts, healthOptions, clock);
});

const at = (ms: number) => {
  now = ms;
  return tracker.evaluate();
};
const codesAt = (ms: number) => at(ms).map(({ code }) => code);

it('a network without a ready node is one problem, with the state of its nodes and the time it began', () => {
  expect(at(0)).toEqual([]);
  nodes = [node('one', 'failing', '5 consecutive failures'), node('two', 'drained')];
  at(10_000);
  expect(at(12_000)).toEqual([
    {
      ...{ code: 'no_ready_node', severity: 'error', since: DATE + 10_000, network: 'devnet', node: null },
      text: 'No node of devnet is ready, so its requests may fail: one is failing (5 consecutive failures); two is drained.',
    },
  ]);
  nodes = [node('one', 'healthy'), node('two', 'drained')];
  expect(at(13_000)).toEqual([]);
});

it('a node that has not yet responded counts as ready for a short time after startup', () => {
  nodes = [node('one', 'unknown')];
  expect(codesAt(healthOptions.startupMs - 1)).toEqual([]);
  expect(codesAt(healthOptions.startupMs)).toEqual(['no_ready_node']);
});

it('one failing node of several is a warning, one that is behind only after a while', () => {
  nodes = [node('one', 'healthy'), node('two', 'failing'), node('three', 'behind')];
  expect(at(0)).toMatchObject([{ code: 'node_unhealthy', severity: 'warning', node: 'two' }]);
  expect(at(healthOptions.degradedMaxMs).map((problem) => problem.node)).toEqual(['two', 'three']);
});

it('the error rate counts above a minimum of requests, and ends at half of the limit', () => {
  at(0);
  requests = { total: 19, failed: 19 };
  expect(codesAt(1_000)).toEqual([]);
  requests = { total: 100, failed: 5 };
  expect(codesAt(2_000)).toEqual([]);
  requests = { total: 100, failed: 6 };
  expect(at(3_000)).toMatchObject([
    { code: 'error_rate', text: '6.0 % of requests failed in the last minute (6 of 100).' },
  ]);
  requests = { total: 180, failed: 6 };
  expect(codesAt(4_000)).toEqual(['error_rate']);
  requests = { total: 240, failed: 6 };
  expect(codesAt(5_000)).toEqual([]);
});

it('failures older than a minute do not count', () => {
  at(0);
  requests = { total: 100, failed: 100 };
  expect(codesAt(1_000)).toEqual(['error_rate']);
  for (let second = 2; second <= 60; second++) at(second * 1_000);
  requests = { total: 200, failed: 100 };
  expect(codesAt(61_000)).toEqual([]);
});

it('rows that ClickHouse rejects are a problem of their own, so that an outage is reported beside it', () => {
  const codes = () => at(now).map(({ code, severity }) => `${code} ${severity}`);
  hasRejectedRows = true;
  expect(codes()).toEqual(['clickhouse_rows_rejected warning']);
  isClickHouseUp = false;
  expect(codes()).toEqual(['clickhouse_unavailable error', 'clickhouse_rows_rejected warning']);
  [isClickHouseUp, hasRejectedRows] = [true, false];
  expect(codes()).toEqual([]);
});

it('streams, databases, losses and disk are problems until they recover, errors first', () => {
  stream = { lagSlots: healthOptions.streamLagSlots, isDown: false };
  disk = { freeBytes: 100, totalBytes: 1_000 };
  expect(codesAt(0)).toEqual([]);
  stream = { lagSlots: healthOptions.streamLagSlots + 1, isDown: false };
  disk = { freeBytes: 5, totalBytes: 1_000 };
  losses = { usage: 1, log: 1 };
  isStoreUp = false;
  isClickHouseUp = false;
  const all = [
    'database_unavailable',
    'clickhouse_unavailable',
    'disk_full',
    'usage_loss',
    'stream_lag',
    'log_loss',
  ];
  expect(codesAt(1_000)).toEqual(all);
  stream = { lagSlots: null, isDown: false };
  disk = { freeBytes: 500, totalBytes: 1_000 };
  isStoreUp = true;
  isClickHouseUp = true;
  expect(codesAt(2_000)).toEqual(['usage_loss', 'log_loss']);
  expect(codesAt(1_000 + healthOptions.lossWindowMs)).toEqual([]);
  stream = { lagSlots: null, isDown: true };
  expect(codesAt(400_000)).toEqual(['stream_lag']);
});
