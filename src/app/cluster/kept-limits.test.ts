import { expect, it } from 'vitest';
import type { ExchangeStep } from '../../control/shared/limit-exchange.ts';
import { KeptLimits } from './kept-limits.ts';

const LASTS_MS = 60_000;

/** What a worker tells of itself and of the places that it holds. @returns those of the others. */
function tell(limits: KeptLimits, worker: number, name: string, open: number): unknown {
  const steps: ExchangeStep[] = [
    { name: 'presence', keys: ['gateways'], values: [name, LASTS_MS] },
    { name: 'places', keys: ['places:ws:family'], values: [name, LASTS_MS, open] },
  ];
  const [presence, places] = limits.run(worker, steps) as [number[], number[]];
  return { workers: presence[1], elsewhere: places[0] };
}

it('the places of a worker are free in the moment in which it is gone, also where another run took its number', () => {
  const limits = new KeptLimits();
  tell(limits, 1, 'first', 3);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 3 });
  limits.left(1);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 1, elsewhere: 0 });
  tell(limits, 1, 'third', 1);
  tell(limits, 1, 'fourth', 0);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 0 });
  limits.left(7);
});
