import { type JsonValue, RawJson } from '../../base/json.ts';
import {
  type GetLeaderScheduleResult,
  parseGetLeaderSchedule,
} from '../../protocol/rpc/getLeaderSchedule.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition } from './epoch-position.ts';
import { hasSchedule } from './leader-schedule-cache.ts';

/** The text of each ledger's schedule: 432,000 positions are 3 MB, and they never change. */
const written = new WeakMap<LocalNode, RawJson>();

function allPositions(node: LocalNode): RawJson {
  const before = written.get(node);
  if (before !== undefined) return before;
  const slots = Number(node.genesis.epochSchedule.slotsPerEpoch);
  const json = new RawJson(`[${Array.from({ length: slots }, (_, i) => i).join(',')}]`);
  written.set(node, json);
  return json;
}

/** The node itself, in every slot of the epoch; null for an epoch whose schedule is not known yet, or no longer. */
export function getLeaderSchedule(node: LocalNode, params: JsonValue | undefined): GetLeaderScheduleResult {
  const wanted = parseGetLeaderSchedule(params);
  const bank = node.bank(wanted.commitment);
  const { identity, epochSchedule } = node.genesis;
  const { epoch } = epochPosition(epochSchedule, wanted.slot ?? bank.slot);
  if (!hasSchedule(node, epoch)) return null;
  if (wanted.identity !== null && wanted.identity !== identity) return {};
  return { [identity]: allPositions(node) };
}
