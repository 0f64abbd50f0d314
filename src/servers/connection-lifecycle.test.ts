import { describe, expect, it, onTestFinished } from 'vitest';
import { Heartbeat, type Pulse, ReadPause } from './connection-lifecycle.ts';

const options = { pingIntervalMs: 30, pongTimeoutMs: 20, idleTimeoutMs: 1_000 };
const still: Pulse = { isBusy: true, bytesIn: 0, bytesOut: 0, hasBacklog: false };

/** Actions due at each of the times. */
const actionsAt = (heartbeat: Heartbeat, times: readonly number[], pulse: Partial<Pulse> = {}) =>
  times.map((time) => heartbeat.check({ ...still, ...pulse }, time, options));

describe('Heartbeat', () => {
  it('pings once per interval, even if other data arrives', () => {
    const heartbeat = new Heartbeat(0);
    expect(actionsAt(heartbeat, [29, 30, 31])).toEqual([null, 'ping', null]);
    expect(actionsAt(heartbeat, [40, 59, 60], { bytesIn: 6 })).toEqual([null, null, 'ping']);
  });

  it('reports UNRESPONSIVE when nothing arrives within the timeout after a ping', () => {
    const heartbeat = new Heartbeat(0);
    expect(actionsAt(heartbeat, [30, 49, 50])).toEqual(['ping', null, 'UNRESPONSIVE']);
  });

  it('accepts any byte as an answer to a ping', () => {
    const heartbeat = new Heartbeat(0);
    actionsAt(heartbeat, [30]);
    expect(actionsAt(heartbeat, [49, 55], { bytesIn: 1 })).toEqual([null, null]);
  });

  it('extends the timeout while a backlog ahead of the ping drains', () => {
    const heartbeat = new Heartbeat(0);
    actionsAt(heartbeat, [30], { hasBacklog: true });
    const reading = [45, 60, 75, 90].map(
      (time) => actionsAt(heartbeat, [time], { hasBacklog: true, bytesOut: time })[0],
    );
    expect(reading).toEqual([null, null, null, null]);
    expect(actionsAt(heartbeat, [109, 110], { hasBacklog: true, bytesOut: 90 })).toEqual([
      null,
      'UNRESPONSIVE',
    ]);
  });

  it('reports IDLE without activity, although pings are answered', () => {
    const heartbeat = new Heartbeat(0);
    heartbeat.recordActivity(500);
    let bytesIn = 0;
    const due: unknown[] = [];
    for (let time = 10; time < 1_500; time += 10) {
      bytesIn += 6;
      due.push(...actionsAt(heartbeat, [time], { isBusy: false, bytesIn }));
    }
    expect(new Set(due)).toEqual(new Set([null, 'ping']));
    expect(actionsAt(heartbeat, [1_500], { isBusy: false, bytesIn })).toEqual(['IDLE']);
  });

  it('is never idle while busy and counts idle time from then on', () => {
    const heartbeat = new Heartbeat(0);
    actionsAt(heartbeat, [5_000], { bytesIn: 1 });
    const idle = { isBusy: false, bytesIn: 2 };
    expect(actionsAt(heartbeat, [5_999], idle)).not.toContain('IDLE');
    expect(actionsAt(heartbeat, [6_000], idle)).toEqual(['IDLE']);
  });
});

describe('ReadPause', () => {
  it('ends in the next event loop turn when its end has already passed, without a Node warning', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const events: string[] = [];
    await new Promise<void>((resolve) => {
      const pause = new ReadPause({
        pause: () => events.push('pause'),
        resume: () => {
          events.push('resume');
          resolve();
        },
      });
      pause.extend(performance.now() - 1);
      expect(pause.isPaused).toBe(true);
    });
    // Node emits warnings in a later turn of the event loop.
    await new Promise(setImmediate);
    expect(events).toEqual(['pause', 'resume']);
    expect(warnings).toEqual([]);
  });
});
