import { accountCases } from './cases/accounts.ts';
import { chainCases } from './cases/chain.ts';
import { historyCases } from './cases/history.ts';
import { parameterCases } from './cases/parameters.ts';
import type { RecordedCase } from './cases/recorded-case.ts';
import { sendingCases } from './cases/sending.ts';
import { transportCases } from './cases/transport.ts';

/** All requests, those that change state last. */
export const recordedCases: readonly RecordedCase[] = [
  ...[accountCases, historyCases, chainCases, parameterCases, transportCases, sendingCases].flat(),
];
