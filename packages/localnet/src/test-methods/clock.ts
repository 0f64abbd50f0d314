import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, noParameters, positional } from '../../../../src/protocol/rpc/parameters.ts';
import { readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { epochInfoOf } from '../rpc/getEpochInfo.ts';
import { BLOCKS_MAX, type LedgerControls } from './ledger-controls.ts';

/** Stops time and the making of blocks. */
export function pauseClock({ node }: LedgerControls, params: JsonValue | undefined): WritableJson {
  noParameters(params);
  node.clock.pause();
  return epochInfoOf(node, node.bank('processed'));
}

/** Time continues from where it was. */
export function resumeClock({ node }: LedgerControls, params: JsonValue | undefined): WritableJson {
  noParameters(params);
  node.clock.resume();
  return epochInfoOf(node, node.bank('processed'));
}

/** `blocks`: makes blocks at once, each a slot later in time. */
export async function step(controls: LedgerControls, params: JsonValue | undefined): Promise<WritableJson> {
  const blocks = at(positional(params, 1, 1), 0, readU64);
  if (blocks > BLOCKS_MAX) throw invalidParams(`Invalid param: at most ${BLOCKS_MAX} blocks`);
  await controls.step(Number(blocks));
  return epochInfoOf(controls.node, controls.node.bank('processed'));
}
