import { describe, expect, it, onTestFinished } from 'vitest';
import { ReadPause } from './read-pause.ts';

describe('ReadPause', () => {
  it('ends in the next event loop turn when its time has passed already, without a Node warning', async () => {
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
    // Node emits warnings in a turn of their own.
    await new Promise(setImmediate);
    expect(events).toEqual(['pause', 'resume']);
    expect(warnings).toEqual([]);
  });
});
