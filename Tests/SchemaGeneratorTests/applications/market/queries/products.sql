-- name: product(sku:) :optional
SELECT * FROM Products WHERE SKU = :sku;
-- name: search(text:minimumStock:) :many
SELECT SKU, Title, Stock FROM Products WHERE (Title LIKE '%' || :text || '%' OR Description LIKE '%' || :text || '%') AND Stock >= :minimumStock;
-- name: upsertProduct(sku:title:stock:attributes:) :exec
INSERT INTO Products (SKU, Title, Stock, Attributes) VALUES (:sku, :title, :stock, :attributes)
ON CONFLICT (SKU) DO UPDATE SET Title = excluded.Title, Stock = Products.Stock + excluded.Stock, Attributes = excluded.Attributes;
-- name: colours :many
-- column colour: String?
SELECT SKU, Attributes ->> '$.colour' AS colour FROM Products WHERE Attributes IS NOT NULL;
-- name: setColour(sku:colour:) :count
-- param colour: String?
UPDATE Products SET Attributes = json_set(coalesce(Attributes, '{}'), '$.colour', :colour) WHERE SKU = :sku;
-- name: attributes :many
-- column value: String?
-- column key: String
SELECT p.SKU, a.key, a.value FROM Products p, json_each(p.Attributes) a ORDER BY 1, 2;
-- name: productsTagged(all tags:number:) :many
SELECT p.SKU, p.Title FROM Products p JOIN ProductTags t ON t.SKU = p.SKU WHERE t.Tag IN (:tags) GROUP BY p.SKU HAVING count(DISTINCT t.Tag) = :number;
-- name: tagCloud :many
SELECT t.Tag, count(pt.SKU) AS products FROM Tags t LEFT JOIN ProductTags pt USING (Tag) GROUP BY t.Tag ORDER BY products DESC, t.Tag;
-- name: tag(sku:tag:) :exec
INSERT OR IGNORE INTO ProductTags (SKU, Tag) VALUES (:sku, :tag);
-- name: price(sku:currency:day:) :optional
SELECT Cents FROM Prices WHERE SKU = :sku AND Currency = :currency AND ValidFrom <= :day ORDER BY ValidFrom DESC LIMIT 1;
-- name: priceHistory(sku:) :many
SELECT Currency, ValidFrom, Cents, Cents - lag(Cents) OVER (PARTITION BY Currency ORDER BY ValidFrom) AS change,
  lead(ValidFrom) OVER (PARTITION BY Currency ORDER BY ValidFrom) AS validTo FROM Prices WHERE SKU = :sku;
-- name: bestSellers(limit:) :many
SELECT SKU, Title, Sold, Place FROM BestSellers ORDER BY Place LIMIT :limit;
-- name: weights :one
SELECT avg(Weight) AS mean, min(Weight) AS lightest, max(Weight) AS heaviest, round(total(Weight), 2) AS sum, count(*) - count(Weight) AS unknown FROM Products;
-- name: stockLevels :many
SELECT SKU, CASE WHEN Stock = 0 THEN 'out' WHEN Stock < 10 THEN 'low' ELSE 'fine' END AS level, iif(Weight > 10, 'heavy', 'light') AS class, max(Stock, 1) AS shown FROM Products;
-- name: increment(counter:) :one
INSERT INTO Counters (Name, Value) VALUES (:counter, 1) ON CONFLICT (Name) DO UPDATE SET Value = Value + 1 RETURNING Value;
-- name: pictures(skus:) :many
SELECT SKU, length(Picture) AS bytes, hex(substr(Picture, 1, 4)) AS magic, Picture FROM Products WHERE SKU IN (:skus) AND Picture IS NOT NULL;
-- name: events(after:) :many
SELECT Seq, Kind, Body, At FROM Events WHERE Seq > :after ORDER BY Seq;
-- name: calendar(first:days:) :many
WITH RECURSIVE day(d, n) AS (SELECT date(:first), 1 UNION ALL SELECT date(d, '+1 day'), n + 1 FROM day WHERE n < :days)
SELECT day.d AS day, count(o.OrderID) AS orders FROM day LEFT JOIN Orders o ON date(o.PlacedAt) = day.d GROUP BY day.d;
-- name: export :many
SELECT 'product' AS kind, SKU AS id, Title AS label FROM Products
UNION ALL SELECT 'customer', Email, DisplayName FROM Customers
UNION ALL SELECT 'tag', Tag, NULL FROM Tags ORDER BY 1, 2;
-- name: asJSON :one
SELECT json_group_array(json_object('sku', SKU, 'title', Title, 'stock', Stock)) AS products FROM Products;
