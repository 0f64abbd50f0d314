import { GeneratedLedger, type LedgerParameters } from './generated-ledger.ts';

/** Serves a generated ledger in a separate process. Argument: its parameters as JSON. */
const ledger = new GeneratedLedger(JSON.parse(process.argv[2] ?? '') as LedgerParameters);
process.send?.(await ledger.serve());
process.on('disconnect', () => process.exit());
