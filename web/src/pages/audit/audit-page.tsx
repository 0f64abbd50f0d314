import { useState } from 'react';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AllAudit } from './all-audit.tsx';
import { Checks } from './checks.tsx';
import { CustomerAudit } from './customer-audit.tsx';
import '../../styles/traffic.css';
import '../../styles/logs.css';

export function AuditPage() {
  const { user, can } = useSession();
  const [tab, setTab] = useState('customer');
  const question =
    tab === 'checks'
      ? 'Usage records are checked hourly.'
      : 'Sign-ins and changes to keys, members, tokens, customers, and nodes.';
  const mine = { id: 'customer', label: 'This customer', panel: () => <CustomerAudit /> };
  return (
    <Page title="Audit log" question={question} ranged={tab !== 'checks'}>
      {user.isOperator ? (
        <Tabs
          label="Scope"
          chosen={tab}
          onChoose={setTab}
          tabs={[
            mine,
            { id: 'all', label: 'All customers', panel: () => <AllAudit /> },
            { id: 'checks', label: 'Consistency checks', panel: () => <Checks /> },
          ]}
        />
      ) : can('admin') ? (
        <CustomerAudit />
      ) : (
        <EmptyState title="The audit log requires the Admin role">
          Ask an owner or admin to change your role. See Team for the list of members.
        </EmptyState>
      )}
    </Page>
  );
}
