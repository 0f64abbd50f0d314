import { expect, it } from 'vitest';
import type { LimitCommand } from '../../control/shared/limit-store.ts';
import { PrimaryLimitStore } from './primary-limit-store.ts';

const LASTS_MS = 60_000;

/** Reports the open connections of a worker. @returns those of the others. */
function report(limits: PrimaryLimitStore, worker: number, name: string, open: number): unknown {
  const commands: LimitCommand[] = [
    { name: 'presence', keys: ['gateways'], values: [name, LASTS_MS] },
    { name: 'connections', keys: ['places:ws:family'], values: [name, LASTS_MS, open] },
  ];
  const [presence, connections] = limits.execute(worker, commands) as [number[], number[]];
  return { workers: presence[1], elsewhere: connections[0] };
}

it('releases the connections of an ended worker, and of an earlier run with its number', () => {
  const limits = new PrimaryLimitStore();
  report(limits, 1, 'first', 3);
  expect(report(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 3 });
  limits.removeWorker(1);
  expect(report(limits, 2, 'second', 2)).toEqual({ workers: 1, elsewhere: 0 });
  report(limits, 1, 'third', 1);
  report(limits, 1, 'fourth', 0);
  expect(report(limits, 2, 'second', 2)).toEqual({ workers: 2, elsewhere: 0 });
  limits.removeWorker(7);
});
