import { setTimeout as delay } from 'node:timers/promises';
import { Direct } from './direct.ts';
import type { FaultHistory } from './fault-history.ts';
import type { FaultyNode } from './faulty-node.ts';

/** Interval of direct requests to a node, and the latency limit of a healthy one. */
const EVERY_MS = 250;
export const PROMPT_MS = 1_000;

/**
 * Sends requests to a node without faults, through its proxy. On an overloaded machine it may not respond in time, and
 * then the gateway receives no response either.
 */
export async function watchPulse(
  node: FaultyNode,
  at: number,
  faultHistory: FaultHistory,
  isOver: () => boolean,
): Promise<void> {
  const direct = new Direct(node.url);
  while (!isOver()) {
    await delay(EVERY_MS);
    if (!faultHistory.isFaulty(at)) await sendProbe(direct, at, faultHistory);
  }
  await direct.close();
}

/** A late response counts as a fault that starts with the request. */
async function sendProbe(direct: Direct, at: number, faultHistory: FaultHistory): Promise<void> {
  const sentAt = performance.now();
  let end = (): void => {};
  const timer = setTimeout(() => {
    const period = faultHistory.start(at, 'starved', sentAt);
    end = () => faultHistory.end(period, performance.now());
  }, PROMPT_MS);
  // The node may have been killed in the meantime.
  await direct.result('getSlot', [{ commitment: 'processed' }]).catch(() => {});
  clearTimeout(timer);
  end();
}
