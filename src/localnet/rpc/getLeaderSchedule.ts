import { type JsonValue, RawJson } from '../../base/json.ts';
import {
  type GetLeaderScheduleResult,
  parseGetLeaderSchedule,
} from '../../protocol/rpc/getLeaderSchedule.ts';
import type { LocalNode } from '../node.ts';
import { epochPosition } from './epoch-position.ts';

/** The text of the last schedule written: 432,000 positions are 3 MB, and they hardly ever change. */
let written: { slots: bigint; json: RawJson } | null = null;

function allPositions(slots: bigint): RawJson {
  if (written?.slots !== slots) {
    const text = Array.from({ length: Number(slots) }, (_, i) => i).join(',');
    written = { slots, json: new RawJson(`[${text}]`) };
  }
  return written.json;
}

/** The node itself, in every slot of the epoch; null for an epoch whose schedule is not known yet. */
export function getLeaderSchedule(node: LocalNode, params: JsonValue | undefined): GetLeaderScheduleResult {
  const wanted = parseGetLeaderSchedule(params);
  const bank = node.bank(wanted.commitment);
  const { identity, epochSchedule } = node.genesis;
  const { epoch } = epochPosition(epochSchedule, wanted.slot ?? bank.slot);
  if (epoch > node.bank('finalized').clock.leaderScheduleEpoch) return null;
  if (wanted.identity !== null && wanted.identity !== identity) return {};
  return { [identity]: allPositions(epochSchedule.slotsPerEpoch) };
}
