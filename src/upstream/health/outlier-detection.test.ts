import { beforeEach, describe, expect, it } from 'vitest';
import { defaultUpstreamLimits } from '../limits.ts';
import type { AttemptKind } from './attempt-totals.ts';
import { NodeHealth } from './node-health.ts';
import type { EjectionReason } from './node-state.ts';
import { updateEjections } from './outlier-detection.ts';

const limits = { ...defaultUpstreamLimits, ejectionMaxMs: 60_000, readmitSuccessesMin: 3 };

let nodes: NodeHealth[];
beforeEach(() => {
  nodes = ['a', 'b', 'c'].map((name) => new NodeHealth({ name, network: 'devnet', budget: null }, limits));
});

const note = (index: number, times: number, kind: AttemptKind, latencyMs = 20): void => {
  for (let i = 0; i < times; i++) {
    nodes[index]!.recent.record(kind, kind === 'succeeded' ? latencyMs : null, 1_000);
  }
};

function mark(now = 1_000): (EjectionReason | null)[] {
  updateEjections(nodes, limits, now);
  return nodes.map(({ ejectionReason }) => ejectionReason);
}

describe('updateEjections ejects a node', () => {
  it('for a high failure ratio over enough attempts', () => {
    note(0, 10, 'failed');
    note(1, 9, 'failed');
    note(1, 3, 'succeeded');
    note(2, 7, 'failed');
    note(2, 4, 'succeeded');
    expect(mark()).toEqual([null, 'failing', null]);
    note(0, 1, 'failed');
    expect(mark()).toEqual(['failing', 'failing', null]);
  });

  it('for a high throttling ratio', () => {
    note(0, 5, 'throttled');
    note(0, 6, 'succeeded');
    note(1, 4, 'throttled');
    note(1, 7, 'succeeded');
    expect(mark()).toEqual(['throttling', null, null]);
  });

  it('for latencies far above those of the other nodes', () => {
    note(0, 12, 'succeeded', 4_000);
    expect(mark()).toEqual([null, null, null]);
    note(1, 12, 'succeeded', 100);
    note(2, 12, 'succeeded', 3_500);
    expect(mark()).toEqual(['slow', null, 'slow']);
  });

  it('until it has had enough successful calls, or for the maximum time', () => {
    note(0, 11, 'failed');
    mark();
    const good = {
      kind: 'response',
      response: { body: Buffer.from('1'), errorCode: 0 },
      preflight: null,
    } as const;
    for (const elapsedMs of [5, 5]) nodes[0]!.recordOutcome(good, elapsedMs);
    nodes[0]!.recordOutcome({ kind: 'invalid' }, 5);
    for (const elapsedMs of [5, 9_000, 5, 5]) nodes[0]!.recordOutcome(good, elapsedMs);
    expect(mark(2_000)[0]).toBe('failing');
    nodes[0]!.recordOutcome(good, 5);
    expect(mark(2_000)[0]).toBeNull();
    note(1, 11, 'failed');
    expect(mark(2_000)[1]).toBe('failing');
    expect(mark(61_000)[1]).toBe('failing');
    expect(mark(62_001)[1]).toBeNull();
  });
});
