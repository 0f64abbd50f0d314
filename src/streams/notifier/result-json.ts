import { type WritableJson, writeJson } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';

/** The bytes of a `params.result`. */
export const resultOf = (value: WritableJson): Buffer => Buffer.from(writeJson(value));

/** The same with the slot in which it is true. Source: Agave rpc-client-types/src/response.rs, `Response`. */
export const resultIn = (slot: Slot, value: WritableJson): Buffer => resultOf({ context: { slot }, value });
