import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type MinimumLedgerSlotResult = Slot;

/** No parameters. */
export const parseMinimumLedgerSlot = (params: JsonValue | undefined): void => noParameters(params);
