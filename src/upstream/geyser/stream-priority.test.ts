import { expect, it } from 'vitest';
import type { GeyserNode } from './geyser-node.ts';
import { StreamPriority } from './stream-priority.ts';

const node = (name: string, priority?: number): GeyserNode => ({
  ...{ name, url: 'http://127.0.0.1:1', grpc: 'http://127.0.0.1:1' },
  ...(priority !== undefined && { priority }),
});
const first = node('first');
const second = node('second', 2);
const third = node('third', 3);

const START = 100_000;

function started() {
  const priority = new StreamPriority({ stallMs: 5_000, failBackMs: 30_000 });
  priority.setNodes([first, second, third], START);
  return priority;
}

it('opens streams of the next priority when no better node delivers slots, and closes them on recovery', () => {
  const priority = started();
  expect(priority.active).toEqual([first]);
  expect(priority.review(START + 5_000)).toBe(false);
  expect(priority.review(START + 5_001)).toBe(true);
  expect(priority.active).toEqual([first, second]);
  let now = START + 5_001;
  for (; now < START + 30_000; now += 400) {
    priority.recordProgress(second, now);
    expect(priority.review(now)).toBe(false);
  }
  // The first node has to deliver slots for 30 s without a pause.
  const recoveredAt = now;
  for (; now < recoveredAt + 29_900; now += 400) {
    priority.recordProgress(first, now);
    expect(priority.review(now)).toBe(false);
  }
  priority.recordProgress(first, now + 400);
  expect(priority.review(now + 400)).toBe(true);
  expect(priority.active).toEqual([first]);
});

it('goes on to the next priority after each stall, and stops at the last', () => {
  const priority = started();
  expect(priority.review(START + 6_000)).toBe(true);
  expect(priority.review(START + 10_000)).toBe(false);
  expect(priority.review(START + 12_000)).toBe(true);
  expect(priority.active).toEqual([first, second, third]);
  expect(priority.review(START + 60_000)).toBe(false);
});

it('starts with the best priority that is left', () => {
  const priority = started();
  priority.setNodes([third, second], START);
  expect(priority.active).toEqual([second]);
  priority.setNodes([], START);
  expect(priority.active).toEqual([]);
});
