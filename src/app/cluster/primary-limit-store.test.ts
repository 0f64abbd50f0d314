import { expect, it } from 'vitest';
import type { LimitCommand } from '../../control/shared/limit-store.ts';
import { PrimaryLimitStore } from './primary-limit-store.ts';

const LASTS_MS = 60_000;

/** What a worker tells of itself and of the places that it holds. @returns those of the others. */
function tell(limits: PrimaryLimitStore, worker: number, name: string, open: number): unknown {
  const steps: LimitCommand[] = [
    { name: 'presence', keys: ['gateways'], values: [name, LASTS_MS] },
    { name: 'connections', keys: ['places:ws:family'], values: [name, LASTS_MS, open] },
  ];
  const [presence, places] = limits.execute(worker, steps) as [number[], number[]];
  return { workers: presence[1], elsewhere: places[0] };
}

it('the places of a worker are free in the moment in which it is gone, also where another run took its number', () => {
  const limits = new PrimaryLimitStore();
  tell(limits, 1, 'first', 3);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 3 });
  limits.removeWorker(1);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 1, elsewhere: 0 });
  tell(limits, 1, 'third', 1);
  tell(limits, 1, 'fourth', 0);
  expect(tell(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 0 });
  limits.removeWorker(7);
});
