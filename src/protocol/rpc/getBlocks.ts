import type { JsonValue } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';
import { RpcError } from '../rpc-error.ts';
import { at, type ContextConfig, contextOf, positional, readContextConfig } from './parameters.ts';
import { readU64, serdeFault } from './serde.ts';

export type GetBlocksParams = Readonly<{ start: Slot; end: Slot | null; config: ContextConfig }>;
export type GetBlocksResult = readonly Slot[];

/** The second parameter: an end slot or already the config. serde forgets why neither fits. */
function readEndOrConfig(value: JsonValue | undefined): { end: Slot | null; config: ContextConfig | null } {
  if (value === undefined || value === null) return { end: null, config: null };
  try {
    if (typeof value !== 'object') return { end: slot(readU64(value)), config: null };
    if (!Array.isArray(value)) return { end: null, config: contextOf(value) };
  } catch (fault) {
    if (!(fault instanceof RpcError)) throw fault;
  }
  throw serdeFault('data did not match any variant of untagged enum RpcBlocksConfigWrapper');
}

/** `start, end | config, {commitment, minContextSlot}`; the third parameter wins over the second. */
export function parseGetBlocks(params: JsonValue | undefined): GetBlocksParams {
  const list = positional(params, 1, 3);
  const start = slot(at(list, 0, readU64));
  const second = readEndOrConfig(list[1]);
  const third = list[2] === undefined || list[2] === null ? null : readContextConfig(list[2]);
  return { start, end: second.end, config: third ?? second.config ?? readContextConfig(undefined) };
}
