import { signatureOfParams } from '../../../src/upstream/transaction-signature.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { outcomeOf } from '../outcomes.ts';
import { Refused, Tally } from '../tally.ts';
import { Traffic } from '../traffic.ts';
import { IN_FLIGHT_MAX, type Stretch, type Surface } from './surface.ts';

const signatureOf = (wire: string): string =>
  signatureOfParams(Buffer.from(JSON.stringify([wire, { encoding: 'base64' }]))) ?? '';

export type TransactionsSurface = Surface &
  Readonly<{
    traffic: Traffic;
    /** When each transaction was sent, by signature, as `performance.now()`. */
    sentAt: ReadonlyMap<string, number>;
  }>;

/**
 * Calls sendTransaction for one payer; every stream receives each transaction.
 * @param request - sends requests to the service.
 * @param expect - makes clients wait for a transaction before it is sent.
 * @param landed - returns the signatures in the blocks of a range.
 */
export async function transactionsSurface(
  request: SendRequest,
  perSecond: number,
  expect: (signature: string) => Promise<void>,
  landed: (stretch: Stretch) => readonly string[],
): Promise<TransactionsSurface> {
  const tally = new Tally('Sending transactions', 'answers');
  const traffic = new Traffic(request);
  await traffic.fund();
  const sentAt = new Map<string, number>();
  const accepted: string[] = [];
  const stopRefreshing = traffic.refreshRepeatedly();

  const act = async (): Promise<void> => {
    try {
      const wire = await traffic.prepareNext(expect);
      const signature = signatureOf(wire);
      sentAt.set(signature, performance.now());
      await tally.measure(async () => {
        await traffic.submit(wire).catch((fault: Error) => Promise.reject(new Refused(fault.message)));
        accepted.push(signature);
      });
    } catch (fault) {
      tally.fail(fault);
    }
  };
  const check = async (stretch: Stretch) => {
    const times = Map.groupBy(landed(stretch), (signature) => signature);
    const lost = accepted.filter((signature) => !times.has(signature));
    const twice = accepted.filter((signature) => (times.get(signature)?.length ?? 0) > 1);
    const found = `${accepted.length} accepted, ${lost.length} lost, ${twice.length} twice`;
    const faults = [...lost.map((one) => `lost: ${one}`), ...twice.map((one) => `twice: ${one}`)];
    return [outcomeOf('Every accepted transaction is in exactly one block', found, faults)];
  };
  const load = { perSecond, inFlightMax: IN_FLIGHT_MAX, act };
  return { tallies: [tally], load, check, close: stopRefreshing, traffic, sentAt };
}
