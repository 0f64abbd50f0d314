import { setTimeout as delay } from 'node:timers/promises';
import { Direct } from './direct.ts';
import type { FaultHistory } from './fault-history.ts';
import type { FaultyNode } from './faulty-node.ts';

/** How often a node is asked, past the gateway, and how long one may take that is well. */
const EVERY_MS = 250;
export const PROMPT_MS = 1_000;

/**
 * Asks a node that has nothing, on the way on which the gateway asks it, whether it answers: on a machine that is too busy
 * it may not, and then no gateway could have got an answer of it.
 */
export async function watchPulse(
  node: FaultyNode,
  at: number,
  ailments: FaultHistory,
  isOver: () => boolean,
): Promise<void> {
  const direct = new Direct(node.url);
  while (!isOver()) {
    await delay(EVERY_MS);
    if (!ailments.isFaulty(at)) await beat(direct, at, ailments);
  }
  await direct.close();
}

/** What comes too late counts as an illness from when it was asked for. */
async function beat(direct: Direct, at: number, ailments: FaultHistory): Promise<void> {
  const sentAt = performance.now();
  let end = (): void => {};
  const timer = setTimeout(() => {
    const ailment = ailments.start(at, 'starved', sentAt);
    end = () => ailments.end(ailment, performance.now());
  }, PROMPT_MS);
  // It may have been killed meanwhile.
  await direct.result('getSlot', [{ commitment: 'processed' }]).catch(() => {});
  clearTimeout(timer);
  end();
}
