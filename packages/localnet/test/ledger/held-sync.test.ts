import { execFileSync } from 'node:child_process';
import { closeSync, open, openSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { SegmentLog } from '../../src/history/segment-log.ts';

const dir = temporaryFolder('sync');

/**
 * Blocks every thread that could run `fdatasync` on a pipe.
 * @returns a release function.
 */
function holdThreads(): () => void {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const pipes = Array.from({ length: threads }, (_, n) => join(dir, `pipe-${n}`));
  execFileSync('mkfifo', pipes);
  for (const pipe of pipes) open(pipe, 'r', (_error, fd) => closeSync(fd));
  return () => {
    // A pipe opened for reading and writing does not block.
    const writers = pipes.map((pipe) => openSync(pipe, 'r+'));
    setTimeout(() => writers.map(closeSync), 50);
  };
}

it('a record is durable only once a sync that started after its write has finished', async () => {
  const log = new SegmentLog(join(dir, 'log'), (error) => {
    throw error;
  });
  log.rotate(0);
  const release = holdThreads();
  try {
    // The sync starts with the first record; the others are written while it waits.
    for (const slot of [0, 1, 2]) log.append(slot, new Uint8Array(100).fill(slot));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(log.durableSlot).toBe(-1);
  } finally {
    release();
  }
  const seen = new Set<number>();
  while (log.durableSlot < 2) {
    seen.add(log.durableSlot);
    await nextTurn();
  }
  expect(seen).toContain(0);
  expect(seen).not.toContain(1);
  await log.close();
});
