-- name: overview(text:tag:) :many
-- The notes with a text and a tag, each of which may be nil, with the numbers of their tags and attachments.
SELECT note.id, note.title,
    (SELECT count(*) FROM note_tag WHERE note_tag.note_id = note.id) AS tags,
    (SELECT count(*) FROM attachment WHERE attachment.note_id = note.id) AS attachments
FROM note
WHERE (:text IS NULL OR note.title LIKE '%' || :text || '%' OR note.body LIKE '%' || :text || '%')
    AND (:tag IS NULL OR note.id IN (
        SELECT note_tag.note_id FROM note_tag JOIN tag ON tag.id = note_tag.tag_id WHERE tag.name = :tag))
ORDER BY note.id DESC;

-- name: reserveContent(id:size:) :exec
-- Reserves the bytes of an attachment, which are written piece by piece.
INSERT INTO attachment_content (id, content) VALUES (:id, zeroblob(:size));

-- name: removeUnusedTags :count
DELETE FROM tag WHERE id NOT IN (SELECT tag_id FROM note_tag);
