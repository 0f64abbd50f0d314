import { accountCases } from './cases/accounts.ts';
import { chainCases } from './cases/chain.ts';
import { historyCases } from './cases/history.ts';
import { parameterCases } from './cases/parameters.ts';
import type { RecordedCase } from './cases/recorded-case.ts';
import { sendingCases } from './cases/sending.ts';
import { transportCases } from './cases/transport.ts';

const all: readonly RecordedCase[] = [
  ...[accountCases, historyCases, chainCases, parameterCases, transportCases, sendingCases].flat(),
];

/** Methods that may change state. */
const CHANGING = new Set(['sendTransaction', 'requestAirdrop']);

export const readingCases: readonly RecordedCase[] = all.filter(({ method }) => !CHANGING.has(method));

/** They follow the others, because some of their transactions land. */
export const changingCases: readonly RecordedCase[] = all.filter(({ method }) => CHANGING.has(method));
