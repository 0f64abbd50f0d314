import type { JsonValue } from '../../base/json.ts';
import type { Slot } from '../../solana/units.ts';
import { noParameters } from './parameters.ts';

export type GetFirstAvailableBlockResult = Slot;

/** No parameters. */
export const parseGetFirstAvailableBlock = (params: JsonValue | undefined): void => noParameters(params);
