import { describe, expect, it, onTestFinished } from 'vitest';
import { ReadPause } from './read-pause.ts';

describe('a pause in reading', () => {
  it('that is over before it begins ends in the next turn, and Node warns of nothing', async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      const rest = new ReadPause({
        pause: () => seen.push('pause'),
        resume: () => {
          seen.push('resume');
          resolve();
        },
      });
      rest.extend(performance.now() - 1);
      expect(rest.isPaused).toBe(true);
    });
    // Warnings are told in a turn of their own.
    await new Promise(setImmediate);
    expect(seen).toEqual(['pause', 'resume']);
    expect(warnings).toEqual([]);
  });
});
