import type { WritableJson } from '../../base/json.ts';
import { parseExtension } from '../../solana/parsed/account/token-extension.ts';
import { inWireOrder } from '../../solana/parsed/wire-order.ts';
import { readExtensions } from '../../solana/token/extensions.ts';

/** No mint has as many: there are fewer types, and a mint has one of each. */
const EXTENSIONS_MAX = 64;

/**
 * The extensions of a Token-2022 mint, each as jsonParsed shows it: `{extension, state}`, in the order in which they
 * stand. None for a mint of the Token program.
 * @param data - of the mint's account.
 */
export const mintExtensions = (data: Uint8Array): readonly WritableJson[] =>
  readExtensions(data)
    .slice(0, EXTENSIONS_MAX)
    .map(([type]) => inWireOrder(parseExtension(data, type, 'mint')));
