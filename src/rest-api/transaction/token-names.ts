import { TokenNames } from '../../decoding/token/token-names.ts';
import type { Services } from '../services.ts';

/** What names the tokens of transactions. */
export const tokenNamesOf = ({ tokenList, offChain }: Services): TokenNames =>
  new TokenNames({ list: tokenList, offChain });
