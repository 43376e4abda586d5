/*
 * How a copy and prunings of that copy keep out of each other's way: a second model for spin, which `check` beside it runs.
 *
 * One pack, which a copy that was killed has left in the place that it copied to, and one manifest that needs it. Each d_step is one
 * request to the store, as in protocol.pml; between two requests anybody may be suspended, or die.
 *
 *   here            in Sources/LiteVaultRepository
 *   copy            CopyRun.copy (Copying/CopyRun.swift)
 *   copy: claim     CopyRun.claim (Copying/CopyRun+Claim.swift)
 *   prune           WritableRepository.prune (Retention/WritableRepository+Prune.swift)
 *   the list        ObjectStore.changing, WritableRepository.put(_:replacing:) (Repository/ObjectVersion.swift)
 *
 * All of them hold the lease for removing, which anybody may take from its holder at any time. The name of the pack is the same each time that it is stored,
 * so this needs a clock, unlike protocol.pml. It ticks twice in a grace period. What the format states is assumed: nobody is suspended for longer than that between
 * confirming the lease and the request behind it, or between reading the time of what it has chosen and its last removal. Such a period spans one tick at most, and the
 * grace period is over after two.
 *
 * The invariant: a manifest that is listed has its pack. And when all others ended or died, two prunings and a copy of the last process store it.
 *
 * Each of these leaves out one part of the protocol and must fail:
 *   NOCLAIM   a copy does not look at the list
 *   NOSTORE   a copy leaves the list as it is unless it lists the pack
 *   NOMARK    pruning does not say which packs it has chosen
 *   NOTAG     the list is replaced without a condition
 *   NOWAIT    a pruning that ends also takes off what another one has chosen
 */
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef TICKS
#define TICKS 5
#endif
#define GRACE 2
#define LAST 4                 /* the process that comes after all others */
#define PROCESSES 5

/* The store of the copy. */
bool pack = true;
bool manifest = false;
byte holder = 0;               /* leases/prune: 0 when released */
byte version = 0;              /* doomed.json: its tag */
bool listed = false;           /* … whether it lists the pack */
byte since = 0;                /* … since when */
byte chosen = 0;               /* … when it was chosen, plus one; 0 if not */

/* What the model keeps for itself. */
byte clock = 0;
byte until[PROCESSES];         /* what the process is about to do it does by then, at the latest; 0 if there is no limit */
byte over = 0;

#define MAY_TICK (clock < TICKS && (until[1] == 0 || clock < until[1]) && (until[2] == 0 || clock < until[2]) && (until[3] == 0 || clock < until[3]))

inline begin() { until[id] = clock + 1 }
inline confirm() { d_step { if :: holder == id -> begin() :: else -> lost = true; until[id] = 0 fi } }
inline release() { d_step { until[id] = 0; if :: holder == id -> holder = 0 :: else -> skip fi } }
inline die(alone) { if :: !alone -> goto gone :: skip fi }

#ifdef NOTAG
#define UNCHANGED true
#else
#define UNCHANGED (version == v)
#endif

inline copy(alone) {
    d_step { holder = id }
    d_step { there = pack }
    d_step { used = manifest }
    if :: used && there -> goto copied :: used && !there -> goto packs :: else -> skip fi;
#ifndef NOCLAIM
    /* claim */
    d_step { v = version; wasListed = listed; mark = chosen }
    if :: wasListed && mark != 0 -> goto copied :: else -> skip fi;
#ifdef NOSTORE
    if :: !wasListed -> goto packs :: else -> skip fi;
#endif
    confirm(); if :: lost -> goto copied :: else -> skip fi; die(alone);
    d_step { if :: UNCHANGED -> listed = false; since = 0; chosen = 0; version++ :: else -> lost = true fi; until[id] = 0 }
    if :: lost -> goto copied :: else -> skip fi;
#endif
packs:  skip;
    if :: !there -> die(alone); d_step { pack = true } :: else -> skip fi;
    if :: used -> goto copied :: else -> skip fi;
    confirm(); if :: lost -> goto copied :: else -> skip fi; die(alone);
    d_step { manifest = true; until[id] = 0 }
copied: skip;
    d_step { there = false; used = false; wasListed = false; mark = 0; v = 0; lost = false }
    die(alone);
    release()
}

inline prune(alone) {
    d_step { holder = id }
    d_step { there = pack }
    d_step { now = clock }
    d_step { used = manifest }
    d_step { /* doomed.json is read */
        v = version; wasListed = listed; first = (listed -> since : now); mark = chosen;
        if :: mark != 0 && mark - 1 + GRACE <= now -> mark = 0 :: else -> skip fi;
        going = there && !used && wasListed && first + GRACE <= now;
        time = mark
    }
    if :: going -> d_step { time = clock + 1; begin() } :: else -> skip fi;
    if
    :: !going -> confirm()
    :: going -> d_step { if :: holder == id -> skip :: else -> lost = true; until[id] = 0 fi }
    fi;
    if :: lost -> goto pruned :: else -> skip fi; die(alone);
#ifdef NOMARK
    time = 0;
#endif
    d_step { /* … and replaced */
        if
        :: UNCHANGED ->
            listed = (there && !used) || time != 0; since = (listed -> first : 0); chosen = time; version++
        :: else -> lost = true; until[id] = 0
        fi;
        if :: !going -> until[id] = 0 :: else -> skip fi
    }
    if :: lost || !going -> goto pruned :: else -> skip fi; die(alone);
    if
    :: d_step { pack = false; until[id] = 0 }
    :: !alone -> d_step { refused = true; until[id] = 0 } /* these credentials may not delete */
    fi;
    d_step { v = version }
    confirm(); if :: lost -> goto pruned :: else -> skip fi; die(alone);
    d_step {
        if
        :: UNCHANGED && refused -> chosen = (listed -> mark : chosen); version++
#ifdef NOWAIT
        :: UNCHANGED && !refused -> listed = false; since = 0; chosen = 0; version++
#else
        :: UNCHANGED && !refused && mark == 0 -> listed = false; since = 0; chosen = 0; version++
        :: UNCHANGED && !refused && mark != 0 -> version++
#endif
        :: else -> skip
        fi;
        until[id] = 0
    }
pruned: skip;
    d_step { there = false; used = false; wasListed = false; going = false; refused = false; mark = 0; time = 0; first = 0; now = 0; v = 0; lost = false }
    die(alone);
    release()
}

proctype Copier(byte id) {
    byte v, mark, rounds;
    bool there, used, wasListed, lost;
    do :: rounds < ROUNDS -> rounds++; copy(false) :: break od;
gone:   skip;
    d_step { over++; until[id] = 0; rounds = 0; v = 0; mark = 0; there = false; used = false; wasListed = false; lost = false }
}

proctype Pruner(byte id) {
    byte v, mark, now, first, time, rounds;
    bool there, used, wasListed, going, refused, lost;
    do :: rounds < ROUNDS -> rounds++; prune(false) :: break od;
gone:   skip;
    d_step {
        over++; until[id] = 0; rounds = 0; v = 0; mark = 0; now = 0; first = 0; time = 0
        there = false; used = false; wasListed = false; going = false; refused = false; lost = false
    }
}

active proctype Clock() {
end:
    do :: d_step { MAY_TICK -> clock++ } od
}

/* Looks all the time; no state of its own. */
active proctype Monitor() {
end:
    if :: atomic { !(!manifest || pack) -> assert(!manifest || pack) } fi
}

init {
    byte id = LAST;
    byte v, mark, now, first, time;
    bool there, used, wasListed, going, refused, lost;
    atomic {
        /* A pruning may have listed the pack before. */
        if :: listed = true; version = 1 :: skip fi;
        run Copier(1); run Pruner(2); run Pruner(3)
    }
    over == 3;
    /* The grace period after anything is over, and nothing stays blocked for ever. */
    d_step { clock = TICKS + GRACE }
    prune(true);
    copy(true);
    assert(manifest && pack)
gone:   skip
}
