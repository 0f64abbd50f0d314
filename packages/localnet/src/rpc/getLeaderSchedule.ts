import { type JsonValue, RawJson } from '../../../../src/base/json.ts';
import type { Commitment } from '../../../../src/protocol/commitment.ts';
import {
  configObject,
  lenientCommitment,
  positional,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  type JsonObject,
  member,
  optional,
  readObject,
  readString,
  readU64,
  serdeFault,
} from '../../../../src/protocol/rpc/serde.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type Slot, slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition, hasSchedule } from './leader-schedule.ts';

type GetLeaderScheduleParams = Readonly<{
  /** Any slot of the requested epoch; null for the epoch of the bank. */
  slot: Slot | null;
  identity: Address | null;
  commitment: Commitment;
}>;
type Config = Readonly<{ identity: string | null; commitment: Commitment }>;

const configOf = (config: JsonObject): Config => ({
  identity: optional(member(config, 'identity'), readString),
  commitment: lenientCommitment(config),
});

/** First parameter: slot or config. An untagged enum has a single error text. */
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

/** `slot | null | config, {identity, commitment}`; a config in the first position takes precedence. */
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

/** Serialized leader slots per node, cached because 432,000 of them take 3 MB and never change. */
const serializedPositions = new WeakMap<LocalNode, RawJson>();

function allPositions(node: LocalNode): RawJson {
  const before = serializedPositions.get(node);
  if (before !== undefined) return before;
  const slots = Number(node.genesis.epochSchedule.slotsPerEpoch);
  const json = new RawJson(`[${Array.from({ length: slots }, (_, i) => i).join(',')}]`);
  serializedPositions.set(node, json);
  return json;
}

/** The node leads all slots; null for an unknown epoch. */
export function getLeaderSchedule(
  node: LocalNode,
  params: JsonValue | undefined,
): Readonly<Record<string, RawJson>> | null {
  const wanted = parseGetLeaderSchedule(params);
  const bank = node.bank(wanted.commitment);
  const { identity, epochSchedule } = node.genesis;
  const { epoch } = epochPosition(epochSchedule, wanted.slot ?? bank.slot);
  if (!hasSchedule(node, epoch)) return null;
  if (wanted.identity !== null && wanted.identity !== identity) return {};
  return { [identity]: allPositions(node) };
}
