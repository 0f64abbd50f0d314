import { basename, join } from 'node:path';
import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Store } from '../control/database/store.ts';
import type { RecoveredJournal } from '../control/usage/usage-journal.ts';
import { UsageRoller } from '../control/usage/usage-roller.ts';
import { UsageWriter } from '../control/usage/usage-writer.ts';
import { UsageMeter } from '../gateway/metering/usage-meter.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

const journalFolder = (dataDir: string): string => join(dataDir, 'usage-journal');

function logRecoveredJournal(log: Logger, { path, rows, corruptLines, lateRows }: RecoveredJournal): void {
  const journal = basename(path);
  log.info({ journal, rows }, 'Usage of an earlier run recovered');
  if (corruptLines > 0) log.warn({ journal, corruptLines }, 'Usage journal is corrupt');
  if (lateRows > 0) log.warn({ journal, lateRows }, 'Usage dropped: its minutes are past the retention');
}

function writerOf(
  store: Store,
  meter: UsageMeter,
  { keys, dataDir }: Configuration,
  log: Logger,
): UsageWriter {
  return new UsageWriter({
    store,
    source: meter,
    flushIntervalMs: keys.usageFlushIntervalMs,
    pendingRowsMax: keys.usageRowsMax,
    journalFolder: journalFolder(dataDir),
    journalMaxBytes: keys.usageJournalMaxBytes,
    onStoreState: logStateChange(log, 'Failed to write usage; it is queued', 'Writing usage recovered'),
    onJournalState: logStateChange(
      log,
      'Failed to write the usage journal; queued usage would be lost with the process',
      'Writing the usage journal recovered',
    ),
    onJournalRecovered: (journal) => logRecoveredJournal(log, journal),
  });
}

export function openUsage(store: Store, configuration: Configuration, log: Logger) {
  const { keys } = configuration;
  const meter = new UsageMeter({ rowsMax: keys.usageRowsMax });
  const writer = writerOf(store, meter, configuration, log);
  const roller = new UsageRoller({
    store,
    retention: {
      minutesDays: keys.usageMinutesDays,
      hoursDays: keys.usageHoursDays,
      daysDays: keys.usageRetentionDays,
    },
    onState: logStateChange(log, 'Usage rollup failed; minutes are retained', 'Usage rollup resumed'),
    onViolation: (check) => log.error(check, 'Usage consistency check failed'),
  });
  writer.start();
  roller.start();
  const losses = [
    { message: 'Calls not counted: too many usage rows wait for the database', read: () => meter.uncounted },
    {
      message: 'Usage dropped: the database was unavailable for too long',
      read: () => writer.losses.lostRows,
    },
    { message: 'Usage dropped: its minutes are past the retention', read: () => writer.losses.lateRows },
    {
      message: 'Usage is in memory only: raise keys.usage_journal_max_bytes',
      read: () => writer.losses.journalOverflowRows,
    },
  ];
  return {
    meter,
    /** Identifies this run in usage rows. */
    runId: writer.runId,
    setGateway: (id: string) => writer.setGateway(id),
    losses,
    /** Entries of usage lost since startup. */
    lost: () => meter.uncounted + writer.losses.lostRows + writer.losses.lateRows,
    waiting: () => writer.pendingRows,
    stop: () => stopEach([() => roller.stop(), () => writer.stop()]),
  };
}
