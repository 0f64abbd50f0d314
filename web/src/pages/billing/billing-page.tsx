import { useFilters } from '../../filters.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AllBills } from './all-bills.tsx';
import { CustomerBill } from './customer-bill.tsx';

const fields = ['tab', 'month'] as const;

export function BillingPage() {
  const [{ tab, month }, change] = useFilters(fields);
  const { user, customer } = useSession();
  const choose = (name: string): void => change({ month: name });
  const own = <CustomerBill month={month} onMonth={choose} />;
  return (
    <Page title="Billing" question="What a month costs, signed statements, and usage for your own invoices.">
      {user.isOperator ? (
        <Tabs
          label="Billing"
          chosen={tab}
          onChoose={(id) => change({ tab: id })}
          tabs={[
            { id: 'customer', label: customer.name, panel: () => own },
            { id: 'all', label: 'All customers', panel: () => <AllBills month={month} onMonth={choose} /> },
          ]}
        />
      ) : (
        own
      )}
    </Page>
  );
}
