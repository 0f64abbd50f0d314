import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, noParameters, positional } from '../../../../src/protocol/rpc/parameters.ts';
import { readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { epochInfoOf } from '../rpc/getEpochInfo.ts';
import type { LedgerControls } from './ledger-controls.ts';

/** Remembers all accounts. @returns the id. */
export function snapshot({ node, snapshots }: LedgerControls, params: JsonValue | undefined): WritableJson {
  noParameters(params);
  node.executePending();
  return snapshots.take();
}

/** `id`: gives all accounts the state of a snapshot, which can be restored again. Slots, time and history go on. */
export async function restore(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const id = at(positional(params, 1, 1), 0, readU64);
  const { node, snapshots } = controls;
  node.executePending();
  const changes = snapshots.changesTo(Number(id));
  if (changes === null)
    throw invalidParams(`Invalid param: no snapshot ${id}; only the newest ones are kept`);
  await controls.change(changes);
  return epochInfoOf(node, node.bank('processed'));
}
