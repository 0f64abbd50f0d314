/** If the ticker is further behind, it skips the missed ticks. */
const CATCH_UP_SLOTS_MAX = 8;

/**
 * Calls `tick` every `slotMs` on average: late ticks do not accumulate.
 * @returns a stop function.
 */
export function startSlotTicker(slotMs: number, tick: () => void): () => void {
  let due = performance.now() + slotMs;
  let timer = setTimeout(run, slotMs);
  let isStopped = false;

  function run(): void {
    tick();
    if (isStopped) return;
    const now = performance.now();
    due += slotMs;
    if (now - due > CATCH_UP_SLOTS_MAX * slotMs) due = now + slotMs;
    timer = setTimeout(run, Math.max(0, due - now));
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
