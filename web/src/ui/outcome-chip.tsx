import type { UsageStatus } from '../../../src/gateway/metering/usage-status.ts';
import { Swatch } from '../charts/swatch.tsx';
import { outcomes } from '../outcomes.ts';

export const OutcomeChip = ({ status }: { status: UsageStatus }) => (
  <span className="outcome" title={outcomes[status].about}>
    <Swatch color={outcomes[status].color} />
    {outcomes[status].label}
  </span>
);
