import type { JsonValue, RawJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { RpcError } from '../rpc-error.ts';
import { configObject, lenientCommitment, positional, readAddress } from './parameters.ts';
import { type JsonObject, member, optional, readObject, readString, readU64, serdeFault } from './serde.ts';

export type GetLeaderScheduleParams = Readonly<{
  /** A slot of the wanted epoch; null for the bank's own. */
  slot: Slot | null;
  identity: Address | null;
  commitment: Commitment;
}>;
/** By leader, the positions in the epoch it leads; null when the epoch's schedule is not known. */
export type GetLeaderScheduleResult = Readonly<Record<string, RawJson>> | null;

type Config = Readonly<{ identity: string | null; commitment: Commitment }>;

const configOf = (config: JsonObject): Config => ({
  identity: optional(member(config, 'identity'), readString),
  commitment: lenientCommitment(config),
});

/** The first parameter is a slot or already the config: an untagged enum, whose faults have one text. */
function readFirst(value: JsonValue): { slot: Slot } | { config: Config } {
  try {
    return typeof value === 'object'
      ? { config: configOf(readObject(value, 'RpcLeaderScheduleConfig')) }
      : { slot: slot(readU64(value)) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw serdeFault('data did not match any variant of untagged enum RpcLeaderScheduleConfigWrapper');
  }
}

/** `slot | null | config, {identity, commitment}`; a config in the first place wins. */
export function parseGetLeaderSchedule(params: JsonValue | undefined): GetLeaderScheduleParams {
  const list = positional(params, 0, 2);
  const first = optional(list[0], readFirst);
  const second = configOf(configObject(list[1], 'RpcLeaderScheduleConfig'));
  const { identity, commitment } = first !== null && 'config' in first ? first.config : second;
  return {
    slot: first !== null && 'slot' in first ? first.slot : null,
    identity: identity === null ? null : readAddress(identity),
    commitment,
  };
}
