import { Link } from '@tanstack/react-router';
import { useZoom } from '../../charts/zoom.ts';
import { useCall } from '../../queries.ts';
import { KeySwitch } from '../../shell/key-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pending } from '../../ui/pending.tsx';
import { Breakdown } from './breakdown.tsx';
import { MonthCharts } from './month-charts.tsx';
import { Prices } from './prices.tsx';
import { QuotaTiles } from './quota-tiles.tsx';
import '../../styles/traffic.css';

const QUOTA_REFETCH_MS = 10_000;

export function UsagePage() {
  const { customer } = useSession();
  const zoom = useZoom();
  const quota = useCall(
    'GET /customers/{customer}/quota',
    { path: { customer: customer.id } },
    { refetchMs: QUOTA_REFETCH_MS },
  );

  return (
    <Page
      title="Usage and quota"
      question="Usage, remaining quota, and method prices."
      updatedAt={quota.dataUpdatedAt}
      ranged
      actions={<KeySwitch />}
    >
      <Pending query={quota} height="m">
        {(data) => (
          <>
            <QuotaTiles quotas={data.quotas} />
            <MonthCharts quota={data} onZoom={zoom} />
            <p className="muted">
              Notifications are sent at 80%, 95%, and 100% of your quota.{' '}
              <Link to="/settings" search={(before) => ({ ...before, tab: 'notices' })}>
                Manage notifications
              </Link>
            </p>
          </>
        )}
      </Pending>
      <Breakdown />
      <Pending query={quota} height="m">
        {(data) => (
          <Panel
            title="Pricing"
            note={
              data.streamCredits > 0
                ? `Credits per request. Streams and notifications cost ${data.streamCredits} ${data.streamCredits === 1 ? 'credit' : 'credits'} per 0.1 MB.`
                : 'Credits per request. Opening a stream counts as a request; its messages are free.'
            }
          >
            <Prices prices={data.prices} />
          </Panel>
        )}
      </Pending>
    </Page>
  );
}
