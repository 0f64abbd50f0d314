import { describe, expect, it } from 'vitest';
import { Heartbeat, type Pulse } from './heartbeat.ts';

const options = { pingIntervalMs: 30, pongTimeoutMs: 20, idleTimeoutMs: 1_000 };
const still: Pulse = { isBusy: true, bytesIn: 0, bytesOut: 0, hasBacklog: false };

/** What is due at each of the times. */
const looks = (heartbeat: Heartbeat, times: readonly number[], pulse: Partial<Pulse> = {}) =>
  times.map((time) => heartbeat.check({ ...still, ...pulse }, time, options));

describe('a heartbeat', () => {
  it('asks for a ping each interval, whatever else comes in', () => {
    const heartbeat = new Heartbeat(0);
    expect(looks(heartbeat, [29, 30, 31])).toEqual([null, 'ping', null]);
    expect(looks(heartbeat, [40, 59, 60], { bytesIn: 6 })).toEqual([null, null, 'ping']);
  });

  it('ends when nothing comes in for too long after a ping', () => {
    const heartbeat = new Heartbeat(0);
    expect(looks(heartbeat, [30, 49, 50])).toEqual(['ping', null, 'UNRESPONSIVE']);
  });

  it('takes any byte for an answer', () => {
    const heartbeat = new Heartbeat(0);
    looks(heartbeat, [30]);
    expect(looks(heartbeat, [49, 55], { bytesIn: 1 })).toEqual([null, null]);
  });

  it('waits for a ping that is stuck behind much that is being read', () => {
    const heartbeat = new Heartbeat(0);
    looks(heartbeat, [30], { hasBacklog: true });
    const reading = [45, 60, 75, 90].map(
      (time) => looks(heartbeat, [time], { hasBacklog: true, bytesOut: time })[0],
    );
    expect(reading).toEqual([null, null, null, null]);
    expect(looks(heartbeat, [109, 110], { hasBacklog: true, bytesOut: 90 })).toEqual([null, 'UNRESPONSIVE']);
  });

  it('is idle when nothing is used for too long, however well it answers pings', () => {
    const heartbeat = new Heartbeat(0);
    heartbeat.recordActivity(500);
    let bytesIn = 0;
    const due: unknown[] = [];
    for (let time = 10; time < 1_500; time += 10) {
      bytesIn += 6;
      due.push(...looks(heartbeat, [time], { isBusy: false, bytesIn }));
    }
    expect(new Set(due)).toEqual(new Set([null, 'ping']));
    expect(looks(heartbeat, [1_500], { isBusy: false, bytesIn })).toEqual(['IDLE']);
  });

  it('is not idle while it is busy, and begins to count when it no longer is', () => {
    const heartbeat = new Heartbeat(0);
    looks(heartbeat, [5_000], { bytesIn: 1 });
    const idle = { busy: false, bytesIn: 2 };
    expect(looks(heartbeat, [5_999], idle)).not.toContain('IDLE');
    expect(looks(heartbeat, [6_000], idle)).toEqual(['IDLE']);
  });
});
