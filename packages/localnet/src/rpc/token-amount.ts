import type { Float64 } from '../../../../src/base/json.ts';

/** An amount of tokens on the wire. Source: Agave account-decoder-client-types `UiTokenAmount`. */
export type TokenAmount = Readonly<{
  /** u64 in base units. */
  amount: string;
  decimals: number;
  uiAmount: Float64 | null;
  uiAmountString: string;
}>;
