import type { Random } from '../fuzz/engine/mutate.ts';

export function shuffled<T>(things: readonly T[], random: Random): T[] {
  const order = [...things];
  for (let i = order.length - 1; i > 0; i--) {
    const j = random() % (i + 1);
    [order[i], order[j]] = [order[j] as T, order[i] as T];
  }
  return order;
}

export function dropSome<T>(things: readonly T[], group: number, lost: number, random: Random): T[] {
  return things.flatMap((_, at) => {
    if (at % group !== 0) return [];
    const indexes = Array.from({ length: Math.min(group, things.length - at) }, (__, i) => at + i);
    const gone = new Set(shuffled(indexes, random).slice(0, lost));
    return indexes.filter((i) => !gone.has(i)).map((i) => things[i] as T);
  });
}
