import { Pace } from '../../programs/pace.ts';
import type { SeededRandom } from '../nodes/fault-injector.ts';
import type { Reply, TestClient } from './clients.ts';
import type { FaultChecker } from './fault-checker.ts';
import type { ReadCall } from './read-calls.ts';

/** Share of batches, and their maximum size. */
const BATCH_SHARE = 0.08;
const BATCH_CALLS_MAX = 12;
const IN_FLIGHT_MAX = 400;

type NextRead = (random: SeededRandom) => ReadCall;

function draw(next: NextRead, random: SeededRandom): ReadCall[] {
  if (!random.happens(BATCH_SHARE)) return [next(random)];
  const count = Math.round(random.between(2, BATCH_CALLS_MAX));
  return Array.from({ length: count }, () => next(random)).filter(({ isLong }) => isLong !== true);
}

export function startReads(
  client: TestClient,
  next: NextRead,
  checker: FaultChecker,
  random: SeededRandom,
  perSecond: number,
): Pace {
  const act = async (): Promise<void> => {
    const requested = draw(next, random);
    if (requested.length === 0) return;
    const startedAt = performance.now();
    const replies = await client.send(requested.map(({ method, params }) => ({ method, params })));
    const endedAt = performance.now();
    const batch = requested.length > 1 ? ` in a batch of ${requested.length}` : '';
    for (const [at, { method, params, check, isLong = false }] of requested.entries()) {
      const reply = replies[at] as Reply;
      checker.note({
        ...{ kind: client.name, what: `${method} ${JSON.stringify(params).slice(0, 120)}${batch}` },
        ...{ startedAt, endedAt, fault: reply.kind === 'result' ? check(reply.result) : reply.text },
        isBrokenOff: isLong && reply.kind === 'broken',
      });
    }
  };
  return new Pace({ perSecond, inFlightMax: IN_FLIGHT_MAX, act });
}
