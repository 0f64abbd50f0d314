import type { NodeReportJson } from '../../../../src/control/api/contract/nodes.ts';
import { formatMs } from '../../format.ts';
import { Chip } from '../../ui/chip.tsx';
import { scrollIntoDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';

export function NodeReport({ report }: { report: NodeReportJson }) {
  const { reachable, version, slot, latencyMs, firstAvailableBlock, findings } = report;
  const isCompatible = findings.every(({ severity }) => severity !== 'error');
  return (
    <section ref={scrollIntoDialog} className="stack-tight" aria-label="Test" aria-live="polite">
      <p className="row">
        <Chip tone={isCompatible ? (findings.length === 0 ? 'good' : 'warn') : 'bad'}>
          {!reachable ? 'Failed' : isCompatible ? 'Compatible' : 'Incompatible'}
        </Chip>
        {findings.length === 0 ? 'The node responded; no issues found.' : null}
      </p>
      {reachable ? (
        <Facts
          facts={[
            ['Version', version ?? 'Unknown'],
            ['Slot', slot ?? 'Unknown'],
            ['Latency', formatMs(latencyMs)],
            ['Ledger history', firstAvailableBlock === null ? 'None' : `from block ${firstAvailableBlock}`],
          ]}
        />
      ) : null}
      {findings.length === 0 ? null : (
        <ul className="stack-tight">
          {findings.map(({ severity, finding, remedy }) => (
            <li key={`${finding} ${remedy}`}>
              <Chip tone={severity === 'error' ? 'bad' : 'warn'}>{severity}</Chip> {finding} {remedy}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
