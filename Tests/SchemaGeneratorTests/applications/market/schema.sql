-- litevault: engine 3.38
-- litevault: relations
-- litevault: record Customers as Customer
-- litevault: record Orders as PurchaseOrder
-- litevault: record OrderLines as OrderLine
-- litevault: record Products as Product
-- litevault: record ProductTags as ProductTag
-- litevault: record Tags as Tag
-- litevault: record Prices as Price
-- litevault: enum OrderState new=new paid=paid sent=sent void=void
-- litevault: Orders.State as OrderState
-- litevault: Products.Attributes json [String: String]
CREATE TABLE Customers (
  CustomerID INTEGER PRIMARY KEY,
  UserUUID UUID NOT NULL UNIQUE,
  Email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  DisplayName NVARCHAR(80),
  Birthday DATE,
  IsVIP BOOLEAN NOT NULL DEFAULT 0,
  Balance DOUBLE PRECISION NOT NULL DEFAULT 0.0,
  ReferredBy INTEGER REFERENCES Customers(CustomerID),
  CreatedAt DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  DeletedAt DATETIME
);
CREATE TABLE Products (
  SKU TEXT NOT NULL PRIMARY KEY CHECK (length(SKU) >= 3),
  Title TEXT NOT NULL,
  Description TEXT NOT NULL DEFAULT '',
  Stock INTEGER NOT NULL DEFAULT 0 CHECK (Stock >= 0),
  Weight FLOAT,
  Attributes TEXT,
  Picture BLOB
) WITHOUT ROWID;
CREATE TABLE Prices (
  SKU TEXT NOT NULL REFERENCES Products ON UPDATE CASCADE,
  Currency TEXT NOT NULL,
  ValidFrom TEXT NOT NULL,
  Cents INTEGER NOT NULL,
  PRIMARY KEY (SKU, Currency, ValidFrom)
) WITHOUT ROWID, STRICT;
CREATE TABLE Orders (
  OrderID INTEGER PRIMARY KEY,
  CustomerID INTEGER NOT NULL REFERENCES Customers,
  BilledTo INTEGER REFERENCES Customers(CustomerID),
  State TEXT NOT NULL DEFAULT 'new' CHECK (State IN ('new', 'paid', 'sent', 'void')),
  PlacedAt DATETIME NOT NULL,
  Note TEXT
);
CREATE TABLE OrderLines (
  OrderID INTEGER NOT NULL REFERENCES Orders ON DELETE CASCADE,
  Position INTEGER NOT NULL,
  SKU TEXT NOT NULL REFERENCES Products(SKU),
  Quantity INTEGER NOT NULL CHECK (Quantity > 0),
  UnitCents INTEGER NOT NULL,
  LineCents INTEGER GENERATED ALWAYS AS (Quantity * UnitCents) STORED,
  PRIMARY KEY (OrderID, Position)
);
CREATE TABLE Tags (Tag TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
CREATE TABLE ProductTags (SKU TEXT NOT NULL REFERENCES Products(SKU), Tag TEXT NOT NULL REFERENCES Tags(Tag), PRIMARY KEY (SKU, Tag)) WITHOUT ROWID;
CREATE TABLE Counters (Name TEXT PRIMARY KEY NOT NULL, Value INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Events (Seq INTEGER PRIMARY KEY AUTOINCREMENT, Kind TEXT NOT NULL, Body TEXT, At INTEGER NOT NULL DEFAULT (unixepoch()));
CREATE INDEX OrdersByCustomer ON Orders(CustomerID, PlacedAt DESC);
CREATE INDEX LinesBySKU ON OrderLines(SKU);
CREATE INDEX Live ON Customers(Email) WHERE DeletedAt IS NULL;
CREATE VIEW OrderTotals AS
  SELECT o.OrderID, o.CustomerID, o.State, o.PlacedAt, COALESCE(SUM(l.LineCents), 0) AS TotalCents, COUNT(l.Position) AS Lines
  FROM Orders o LEFT OUTER JOIN OrderLines l USING (OrderID) GROUP BY o.OrderID;
CREATE VIEW BestSellers AS
  WITH sold AS (SELECT SKU, SUM(Quantity) AS Sold FROM OrderLines GROUP BY SKU)
  SELECT p.SKU, p.Title, IFNULL(s.Sold, 0) AS Sold, RANK() OVER (ORDER BY s.Sold DESC) AS Place
  FROM Products p LEFT JOIN sold s ON s.SKU = p.SKU;
CREATE TRIGGER TakeFromStock AFTER INSERT ON OrderLines BEGIN
  UPDATE Products SET Stock = Stock - NEW.Quantity WHERE SKU = NEW.SKU;
  INSERT INTO Events (Kind, Body) VALUES ('taken', json_object('sku', NEW.SKU, 'quantity', NEW.Quantity));
END;
