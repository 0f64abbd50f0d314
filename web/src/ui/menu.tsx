import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Button, type ButtonProps } from './button.tsx';

export type MenuItem = Readonly<{
  label: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  checked?: boolean;
}>;

type MenuProps = Readonly<{
  label?: string;
  button: ReactNode;
  buttonProps?: Omit<ButtonProps, 'children'>;
  items: readonly MenuItem[];
  head?: ReactNode;
  align?: 'start' | 'end';
}>;

const GAP_PX = 4;

export function Menu({ label, button, buttonProps, items, head, align = 'start' }: MenuProps) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);

  const entries = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not([disabled])') ?? []),
  ];

  const open = (): void => {
    const box = opener.current?.getBoundingClientRect();
    const element = list.current;
    if (box === undefined || element === null) return;
    element.showPopover();
    positionMenu(element, box, align);
    entries()[0]?.focus();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = nextEntry(event.key, at, all);
    if (to === null) return;
    event.preventDefault();
    all[to]?.focus();
  };

  return (
    <div className="menu">
      <Button
        {...buttonProps}
        ref={opener}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        {...(label === undefined ? {} : { 'aria-label': label, title: label })}
        onClick={open}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          open();
        }}
      >
        {button}
      </Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        className="menu-list"
        onToggle={(event) => {
          const opens = event.newState === 'open';
          setIsOpen(opens);
          if (!opens && list.current?.contains(document.activeElement)) opener.current?.focus();
        }}
      >
        {head === undefined ? null : <div className="menu-head">{head}</div>}
        <div role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map((item, index) => (
            <MenuEntry
              // biome-ignore lint/suspicious/noArrayIndexKey: no other key; the order is stable
              key={index}
              item={item}
              onDone={() => {
                list.current?.hidePopover();
                opener.current?.focus();
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function MenuEntry({ item, onDone }: { item: MenuItem; onDone: () => void }) {
  const { label, onSelect, danger = false, disabled = false, checked } = item;
  return (
    <button
      type="button"
      {...(checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked })}
      disabled={disabled}
      tabIndex={-1}
      className={`menu-item ${danger ? 'menu-item-danger' : ''}`}
      onClick={() => {
        onDone();
        onSelect();
      }}
    >
      {label}
    </button>
  );
}

function nextEntry(key: string, at: number, all: readonly HTMLElement[]): number | null {
  const count = all.length;
  if (count === 0) return null;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key.length !== 1) return null;
  const letter = key.toLowerCase();
  const order = [...all.keys()].map((index) => (at + 1 + index) % count);
  return order.find((index) => all[index]?.textContent?.trim().toLowerCase().startsWith(letter)) ?? null;
}

function positionMenu(element: HTMLElement, box: DOMRect, align: 'start' | 'end'): void {
  const { offsetWidth, offsetHeight } = element;
  const desiredLeft = align === 'end' ? box.right - offsetWidth : box.left;
  const left = Math.max(GAP_PX, Math.min(desiredLeft, window.innerWidth - offsetWidth - GAP_PX));
  const below = box.bottom + GAP_PX;
  const fits = below + offsetHeight <= window.innerHeight;
  element.style.left = `${left}px`;
  element.style.top = `${fits ? below : Math.max(GAP_PX, box.top - offsetHeight - GAP_PX)}px`;
}
