import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { positional } from '../../../../src/protocol/rpc/parameters.ts';
import { optional, payloadOf, readTagged, readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { epochInfoOf } from '../rpc/getEpochInfo.ts';
import { BLOCKS_MAX, type LedgerControls } from './ledger-controls.ts';
import { impossible } from './test-method.ts';

/** The last millisecond that JavaScript can represent. */
const TIMESTAMP_MAX_MS = 8_640_000_000_000_000n;

const HOUR_MS = 3_600_000;

const kinds = ['absoluteEpoch', 'absoluteSlot', 'absoluteTimestamp'] as const;

/** `{absoluteEpoch} | {absoluteSlot} | {absoluteTimestamp}`; the timestamp is in Unix milliseconds. */
function parse(params: JsonValue | undefined) {
  const [value] = positional(params, 0, 1);
  return optional(value, (given) => {
    const tagged = readTagged(given, kinds);
    return { kind: tagged.variant, target: payloadOf(tagged, readU64) };
  });
}

const past = (what: string, target: bigint, current: bigint) =>
  impossible(`Cannot travel to past ${what}: target=${target}, current=${current}`);

async function travelToSlot(controls: LedgerControls, target: bigint): Promise<void> {
  const distance = target - controls.node.bank('processed').slot;
  if (distance > BLOCKS_MAX) {
    throw invalidParams(
      `Invalid param: ${distance} slots ahead; at most ${BLOCKS_MAX}. Start with shorter epochs (--slots-per-epoch)`,
    );
  }
  await controls.step(Number(distance));
}

async function travelToTime(controls: LedgerControls, target: bigint): Promise<void> {
  const current = controls.node.clock.now();
  if (target > TIMESTAMP_MAX_MS)
    throw invalidParams(`Invalid param: timestamps are milliseconds up to ${TIMESTAMP_MAX_MS}`);
  if (Number(target) < current) throw past('timestamp', target, BigInt(Math.floor(current)));
  await controls.advanceClock(Number(target) - current);
}

/**
 * Moves slot, epoch or time forward; without argument, time by an hour. Slots and epochs are reached by blocks with
 * only the vote, each a slot later in time. A timestamp is reached without further slots.
 */
export async function timeTravel(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const { node } = controls;
  const { slot, epoch } = node.bank('processed');
  const { kind, target } = parse(params) ?? { kind: null, target: 0n };
  if (kind === 'absoluteSlot') {
    if (target < slot) throw past('slot', target, slot);
    await travelToSlot(controls, target);
  } else if (kind === 'absoluteEpoch') {
    if (target < epoch) throw past('epoch', target, epoch);
    if (target > epoch) await travelToSlot(controls, target * node.genesis.epochSchedule.slotsPerEpoch);
  } else if (kind === 'absoluteTimestamp') {
    await travelToTime(controls, target);
  } else {
    await controls.advanceClock(HOUR_MS);
  }
  return epochInfoOf(node, node.bank('processed'));
}
