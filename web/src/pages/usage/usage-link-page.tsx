import { useEffect } from 'react';
import { useCall } from '../../queries.ts';
import { ThemeSwitch } from '../../shell/user-menu.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { AuthLayout } from '../sign-in/auth-layout.tsx';
import { useUrlToken } from '../sign-in/url-token.ts';
import { UsageParts } from './breakdown.tsx';
import type { Usage } from './dimensions.ts';
import { MonthCharts } from './month-charts.tsx';
import { QuotaTiles } from './quota-tiles.tsx';
import '../../styles/traffic.css';

const REFETCH_MS = 60_000;

/** The usage of a customer this month, for people without an account. */
export function UsageLinkPage() {
  const token = useUrlToken({ staysInUrl: true });
  const { data, error, dataUpdatedAt } = useCall(
    'POST /usage-links/preview',
    { body: { token } },
    { enabled: token !== '', refetchMs: REFETCH_MS },
  );
  const title = data === undefined || error !== null ? 'Usage' : `Usage for ${data.customerName}`;
  useEffect(() => {
    document.title = `${title} · Solway`;
  }, [title]);
  if (token === '')
    return (
      <AuthLayout title="Usage">
        <p>This URL does not contain a usage link. Open the full link you received.</p>
      </AuthLayout>
    );
  if (error !== null)
    return (
      <AuthLayout title="Usage">
        <FormError problem={error} />
      </AuthLayout>
    );
  if (data === undefined)
    return (
      <main className="alone">
        <Skeleton />
      </main>
    );
  return (
    <main className="shared">
      <div className="page">
        <header className="page-head">
          <div className="page-title">
            <h1>{title}</h1>
            <p className="page-question">
              Usage for the current month (UTC). This link expires on <Time at={data.expiresAt} /> UTC.
            </p>
          </div>
          <div className="page-tools">
            <span className="freshness">
              Updated <Ago at={dataUpdatedAt} />
            </span>
            <ThemeSwitch />
          </div>
        </header>
        <QuotaTiles quotas={data.quotas} />
        <MonthCharts quota={data} />
        <UsagePanel title="Requests by product" usage={data.byProduct} by="product" />
        <UsagePanel title="Requests by method" usage={data.byMethod} by="method" />
      </div>
    </main>
  );
}

const UsagePanel = ({ title, usage, by }: { title: string; usage: Usage; by: 'product' | 'method' }) => (
  <Panel title={title}>
    {usage.series.length === 0 ? (
      <p className="muted">No usage this month.</p>
    ) : (
      <UsageParts usage={usage} by={by} measure="requests" />
    )}
  </Panel>
);
