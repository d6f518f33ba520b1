// Package files answers the question "how does a batch become one complete file
// on a local disk, exactly once, whatever is killed when?".
//
// Its main noun is [Writer], a sinks.Stager: Stage writes the batch to a
// temporary file and makes it durable, the framework commits the token, Publish
// links the temporary file to its final name. [File] is the result and names
// final files only.
//
// The life of a file below Config.Dir:
//
//	.sluice-tmp/1a2b3c4d-<random>.part            Stage: created, written, synced
//	    link(2), which fails if the name exists   Publish, after the commit
//	late/west-<window>-e<epoch>-b<batch>-<tag>.jsonl
//	    the folder is synced, the temporary name removed, the File returned
//
// Invariants:
//  1. A final name is never seen with less than its whole content: it appears by
//     link, from a file that was written and synced before the commit.
//  2. A final file is never replaced or changed. A name that exists means "done"
//     only where size and checksum are the token's; anything else is an error.
//  3. When Publish returns nil, the final file, its name and the folders above it
//     are durable and visible to every other process; the temporary one is gone.
//  4. Publish of one token may run any number of times, at the same time too, in
//     any run: there is one file, and each call that succeeds returns the same File.
//  5. A failed Stage leaves nothing behind. A killed one leaves a temporary file
//     that Recover of the next run removes.
//  6. Nothing outside Dir is touched, whatever a destination says (os.Root, and
//     rules for names: see [Config]).
//  7. An error of the disk is Transient, names the path and the remedy, and loses
//     nothing. Permanent are: a destination that is no name, a name taken by other
//     content, and a temporary file that is gone with no final one.
//  8. Recover removes only what its own Owner staged and is not pending.
//
// What is on disk after a crash, and what the next run does:
//
//	crash                            on disk                        next run
//	before or while writing          part of a temporary file       Recover removes it; the input is replayed
//	file synced, its name is not     a temporary file, or none      Recover removes it; the input is replayed
//	Stage returned, no commit        a whole temporary file         Recover removes it; the input is replayed
//	committed                        the same, its token pending    Recover keeps it; Publish
//	folders made                     empty folders, maybe           Publish makes and syncs them again
//	linked, folder not synced        both names, or the temporary   Publish finds its own content, or links again
//	folder synced                    both names                     Publish finds its own content, removes the temporary
//	temporary removed                the final name                 Publish finds its own content: success
//	completion committed             the final name                 nothing is pending
//
// The checksum is SHA-256: what decides "already done" must not be fooled by two
// files that merely collide, receivers can check a file with sha256sum, and it
// costs a small part of the fsync. It is computed while writing; the final file
// is read again only where a Publish is repeated.
//
// What the package does not do: write in the bundle, append to a file, create
// Dir (a missing one may be a disk that is not mounted), compress, or work on a
// filesystem without hard links. It owns no goroutine; a call blocks as long as
// the disk does, and Stage looks at its context between records.
package files
